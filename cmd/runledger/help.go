package main

import "strings"

const helpOfExec = `  runledger exec --automation ID [options] -- COMMAND [ARGUMENT…]
      Runs the command and reports START, then END, or ERROR and END. Output, exit code and signals
      are those of the command. Events that cannot be sent wait in the spool for the next run.
        --execution ID      the execution_id (the time of the start and a random part)
        --description TEXT  the description of START (the name of the command)
        --tail              records the last lines also where both outputs are one file
        --no-tail           leaves standard error alone: an ERROR has no last lines
        --verbose           says at the end, on standard error, which event could not be sent
        --dry-run           prints START and checks the settings; runs nothing
        --spool FOLDER      RUNLEDGER_SPOOL
        --timeout-ms N      RUNLEDGER_TIMEOUT_MS: longest wait after the end of the command (2000)
        --url URL, --token-file FILE, --ca-file FILE
                            RUNLEDGER_URL, RUNLEDGER_TOKEN_FILE or RUNLEDGER_TOKEN, RUNLEDGER_CA_FILE
`

const helpOfEvent = `  runledger event start|event|warning|error|end [TEXT] [options]
      Adds an event to a run. Inside a command of exec, the run is known.
        --automation ID, --execution ID
                            RUNLEDGER_AUTOMATION_ID, RUNLEDGER_EXECUTION_ID
        --id ID, --detail TEXT
                            of an error: its error_id, and its text
        --verbose           says what could not be sent; the event waits in the spool then
        --spool FOLDER, --timeout-ms N, --url URL, --token-file FILE, --ca-file FILE
                            as in exec
`

const helpOfFlush = `  runledger flush [--all] [--spool FOLDER] [--url URL] [--token-file FILE] [--ca-file FILE]
      Sends what waits in the spool now, and says what does not work. --all sends also what another
      token or address has left there, with this one.
`

const helpOfExecutions = `  runledger executions [options]
      Lists executions, newest first.
        --state STATE       running, succeeded, failed or lost
`

const helpOfEvents = `  runledger events [options]
      Lists events, newest first; with --execution oldest first.
        --kind KIND         START, EVENT, WARNING, ERROR or END
`

const helpOfFilters = `        --automation ID or NAME, --execution ID, --error-id ID, --q TEXT
        --from TIME (or --since), --to TIME
                            RFC 3339, or in the local time zone: 2026-11-27, today, yesterday; now,
                            or so long ago: 90m, 24h, 7d, 2w
        --limit N           how many (20)
`

const helpOfTail = `  runledger tail [options]
      Prints events as they are stored. Ctrl-C ends it.
        --automation ID or NAME
                            of this automation only
        --kind KIND         START, EVENT, WARNING, ERROR or END
`

const helpOfReading = `        --json              prints a line of JSON for each
        --console URL, --token-file FILE, --ca-file FILE
                            RUNLEDGER_CONSOLE_URL, RUNLEDGER_READ_TOKEN_FILE or RUNLEDGER_READ_TOKEN,
                            RUNLEDGER_CA_FILE
`

const helpOfDoctor = `  runledger doctor
      Says what is set, what answers, and how far the clocks differ.
`

const helpOfInstall = `  runledger install FOLDER
      Copies this program into a folder: a volume that a container shares, or a folder of the PATH.
`

const helpOfCompletion = `  runledger completion bash|zsh|fish|powershell
      Prints the completion of a shell.
`

// The help of a command; of all commands for any other name.
func helpOf(name string) string {
	all := []struct{ name, text string }{
		{"exec", helpOfExec}, {"event", helpOfEvent}, {"flush", helpOfFlush},
		{"executions", helpOfExecutions + helpOfFilters + helpOfReading},
		{"events", helpOfEvents + helpOfFilters + helpOfReading},
		{"tail", helpOfTail + helpOfReading}, {"doctor", helpOfDoctor},
		{"install", helpOfInstall}, {"completion", helpOfCompletion},
	}
	var texts []string
	for _, one := range all {
		if one.name == name {
			return strings.ReplaceAll(strings.TrimPrefix(one.text, "  "), "\n  ", "\n")
		}
		texts = append(texts, one.text)
	}
	return "Reports runs to Runledger, and reads its record.\n\n" + strings.Join(texts, "\n")
}
