const exec = `  runledger exec --automation ID [options] -- COMMAND [ARGUMENT…]
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
`;

const flush = `  runledger flush [--all] [--spool FOLDER] [--url URL] [--token-file FILE] [--ca-file FILE]
      Sends what waits in the spool now, and says what does not work. --all sends also what another
      token or address has left there, with this one.
`;

const executions = `  runledger executions [options]
      Lists executions, newest first.
        --state STATE       running, succeeded, failed or lost
`;

const events = `  runledger events [options]
      Lists events, newest first; with --execution oldest first.
        --kind KIND         START, EVENT, WARNING, ERROR or END
`;

const filters = `        --automation ID or NAME --execution ID --error-id ID --q TEXT
        --from TIME (or --since) --to TIME
                            RFC 3339, or in the local time zone: 2026-11-27, today, yesterday; now,
                            or so long ago: 90m, 24h, 7d, 2w
        --limit N           how many (20)
`;

const tail = `  runledger tail [options]
      Prints events as they are stored. Ctrl-C ends it.
        --automation ID or NAME
                            of this automation only
        --kind KIND         START, EVENT, WARNING, ERROR or END
`;

const reading = `        --json              prints a line of JSON for each
        --console URL, --token-file FILE, --ca-file FILE
                            RUNLEDGER_CONSOLE_URL, RUNLEDGER_READ_TOKEN_FILE or RUNLEDGER_READ_TOKEN,
                            RUNLEDGER_CA_FILE
`;

const ofCommands: Readonly<Record<string, string>> = {
  exec,
  flush,
  executions: `${executions}${filters}${reading}`,
  events: `${events}${filters}${reading}`,
  tail: `${tail}${reading}`,
};

/** The help of a command; of all commands for any other name. */
export function helpOf(name = ''): string {
  const one = Object.hasOwn(ofCommands, name) ? ofCommands[name] : undefined;
  if (one !== undefined) return one.replaceAll(/^ {2}/gm, '');
  const all = Object.values(ofCommands).join('\n');
  return `Reports runs to Runledger, and reads its record.\n\n${all}`;
}
