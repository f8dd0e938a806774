/** What a probe says: undefined when all is well, else one sentence on what is wrong. */
export type Check = () => string | undefined;

/** The answers of `/healthz` and `/readyz`. Components add what must hold; each check has a name of its own. */
export interface Probes {
  readonly live: Map<string, Check>;
  readonly ready: Map<string, Check>;
}

/** No checks yet: both probes say yes. */
export function createProbes(): Probes {
  return { live: new Map(), ready: new Map() };
}

/** Name → sentence of every check that fails now. Empty when the probe says yes. */
export function failing(checks: ReadonlyMap<string, Check>): Record<string, string> {
  const failed: Record<string, string> = {};
  for (const [name, check] of checks) {
    const problem = check();
    if (problem !== undefined) failed[name] = problem;
  }
  return failed;
}
