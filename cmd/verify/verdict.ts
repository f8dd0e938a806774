/**
 * The sentences that the command prints, and its exit code: 0 nothing was changed, 1 something was,
 * 2 it could not be checked.
 */
export interface Verdict {
  readonly sentences: readonly string[];
  readonly code: 0 | 1 | 2;
}

/** One verdict of several. A change weighs more than a check that could not be made. */
export function joined(verdicts: readonly Verdict[]): Verdict {
  const codes = new Set(verdicts.map(({ code }) => code));
  const code = ([1, 2] as const).find((bad) => codes.has(bad)) ?? 0;
  return { sentences: verdicts.flatMap(({ sentences }) => sentences), code };
}
