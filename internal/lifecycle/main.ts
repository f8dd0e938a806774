/**
 * Runs a process' `main`. What it throws ends the process with one line on stderr: there is nothing
 * to log with yet.
 */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    process.stderr.write(`runledger: ${describe(error)}\n`);
    process.exit(1);
  });
}

/** Errors made for people are one line; of a defect the stack is wanted. */
const forPeople = new Set(['ConfigError', 'StartError', 'DemoError']);

function describe(error: unknown): string {
  if (error instanceof Error && forPeople.has(error.name)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
