/**
 * Runs a process's `main`. An error goes to stderr, since no logger exists yet, and ends the
 * process with exit code 1.
 */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    process.stderr.write(`runledger: ${describe(error)}\n`);
    process.exit(1);
  });
}

/** Errors written for people print one line; others print their stack. */
const forPeople = new Set(['ConfigError', 'StartError', 'DemoError']);

function describe(error: unknown): string {
  if (error instanceof Error && forPeople.has(error.name)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
