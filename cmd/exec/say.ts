import { writeSync } from 'node:fs';

/** Says something on standard error, in one line. Says nothing where nobody can read it. */
export function say(message: string): void {
  try {
    writeSync(2, `runledger: ${message}\n`);
  } catch {
    // The exit code must not depend on a closed pipe.
  }
}
