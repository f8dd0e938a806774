/**
 * Runs a process' `main`. What it throws ends the process with one line on stderr: there is nothing to log with yet.
 */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const message = error instanceof Error && error.name === 'ConfigError' ? error.message : describe(error);
    process.stderr.write(`runledger: ${message}\n`);
    process.exit(1);
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
