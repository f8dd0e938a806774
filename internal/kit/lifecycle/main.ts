/**
 * Runs the `main` of a process. An error ends the process with exit code 1 and goes to stderr,
 * since no logger exists yet.
 */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    process.stderr.write(`runledger: ${describe(error)}\n`);
    process.exit(1);
  });
}

/** Errors for people print one line; other errors print their stack. */
const forPeople = new Set(['ConfigError', 'StartError', 'DemoError']);

function describe(error: unknown): string {
  if (error instanceof Error && forPeople.has(error.name)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
