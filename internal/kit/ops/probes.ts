/** The result of a check: undefined when all is well, otherwise one sentence. */
export type Check = () => string | undefined;

/** The checks behind `/healthz` and `/readyz`. Components add them under unique names. */
export interface Probes {
  readonly live: Map<string, Check>;
  readonly ready: Map<string, Check>;
  /**
   * Shown by `/readyz` without affecting its status: another server is unavailable, but this pod
   * serves.
   */
  readonly degraded: Map<string, Check>;
}

/** Creates probes without checks, which answer 200. */
export function createProbes(): Probes {
  return { live: new Map(), ready: new Map(), degraded: new Map() };
}

/** Name → sentence of every failing check; empty if the probe answers 200. */
export function failing(checks: ReadonlyMap<string, Check>): Record<string, string> {
  const failed: Record<string, string> = {};
  for (const [name, check] of checks) {
    const problem = check();
    if (problem !== undefined) failed[name] = problem;
  }
  return failed;
}
