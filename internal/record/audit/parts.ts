import { CannotCheck } from './finding.ts';

/** SQLSTATE of a user who may not read a table. */
const forbidden = '42501';

/** Runs the parts of a check. One that fails becomes a problem, so that the others still report. */
export class Parts {
  readonly #problems = new Set<string>();

  /** A sentence for each part that could not be checked. */
  get problems(): string[] {
    return [...this.#problems];
  }

  /**
   * Resolves with `otherwise` if the part fails. @param what begins the sentence about the failure
   */
  async run<T>(what: string, otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.add(error instanceof CannotCheck ? withCause(error) : `${what} cannot be checked: ${reasonOf(error)}.`);
      return otherwise;
    }
  }

  add(problem: string): void {
    this.#problems.add(problem);
  }
}

/** The reason for an error; names the missing right if that is the reason. */
export function reasonOf(error: unknown): string {
  const { code, message = String(error) } = error instanceof Error ? (error as Error & { code?: string }) : {};
  const table = code === forbidden ? /for (?:table|view|materialized view) (\S+)/.exec(message)?.[1] : undefined;
  return table === undefined ? message : `this user may not read ${table}, run \`grant select on ${table} to …\``;
}

function withCause({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} Cause: ${cause.message}` : message;
}
