import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The arguments are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const usage = `Reports runs to Runledger, and reads its record.

  runledger exec --automation ID [options] -- COMMAND [ARGUMENT…]
      Runs the command and reports START, then END, or ERROR and END. Output, exit code and signals
      are those of the command. Events that cannot be sent wait in the spool for the next run.
        --execution ID      the execution_id (the time of the start and a random part)
        --description TEXT  the description of START (the name of the command)
        --no-tail           leaves standard error alone: an ERROR has no last lines
        --verbose           says at the end, on standard error, which event could not be sent
        --spool FOLDER      RUNLEDGER_SPOOL
        --timeout-ms N      RUNLEDGER_TIMEOUT_MS: longest wait after the end of the command (2000)
        --url URL, --token-file FILE, --ca-file FILE
                            RUNLEDGER_URL, RUNLEDGER_TOKEN_FILE or RUNLEDGER_TOKEN, RUNLEDGER_CA_FILE
  runledger flush [--all] [--spool FOLDER] [--url URL] [--token-file FILE] [--ca-file FILE]
      Sends what waits in the spool now, and says what does not work. --all sends also what another
      token or address has left there, with this one.

  runledger executions [filters]    lists executions, newest first
  runledger events [filters]        lists events, newest first; with --execution oldest first
  runledger tail [--automation ID] [--kind KIND]
      Prints events as they are stored. Ctrl-C ends it.
        --automation ID --execution ID --state STATE --kind KIND --error-id ID --from T --to T --q TEXT
        --limit N           how many (20)
        --json              prints a line of JSON for each
        --console URL, --token-file FILE, --ca-file FILE
                            RUNLEDGER_CONSOLE_URL, RUNLEDGER_READ_TOKEN_FILE or RUNLEDGER_READ_TOKEN,
                            RUNLEDGER_CA_FILE
`;

/**
 * The options of a command, and what follows them.
 * @throws {UsageError} that names any other argument.
 */
export function parseOptions<T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
