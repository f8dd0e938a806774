package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// How a command ended: with an exit code, or by a signal.
type ended struct {
	code   int
	signal string // such as SIGTERM; empty after an exit code
	number int    // of the signal
}

// A running command. `wait` returns once it has ended and its output is passed on.
type running interface {
	wait() (end ended, tail string)
}

// Ingest refuses a longer description, in characters.
const longestDescription = 10_000

// Runs a command, reports it, and ends as the command ended. Only wrong arguments keep the command
// from running.
func runExec(args []string) (int, error) {
	words, options, err := parseExec(args)
	if err != nil {
		return 0, err
	}
	startedAt := time.Now()
	execution := options["execution"]
	if execution == "" {
		execution = startedAt.UTC().Format("2006-01-02T15:04:05.000Z") + "-" + newUUID()[:8]
	}
	settings := readSettings(options, map[string]string{
		"url": "RUNLEDGER_URL", "token-file": "RUNLEDGER_TOKEN_FILE", "ca-file": "RUNLEDGER_CA_FILE",
		"spool": "RUNLEDGER_SPOOL", "timeout-ms": "RUNLEDGER_TIMEOUT_MS",
	})
	environment := environmentOfJob(os.Environ(), map[string]string{
		"RUNLEDGER_AUTOMATION_ID": options["automation"],
		"RUNLEDGER_EXECUTION_ID":  execution,
		"RUNLEDGER_RECEIVER":      settings.receiverFolder(),
	})
	description := options["description"]
	if description == "" {
		description = filepath.Base(words[0])
	}
	subject := subject{options["automation"], execution, startOf(description, longestDescription), startedAt}
	if options["dry-run"] != "" {
		return dryRun(subject, settings)
	}
	tail := tailUsually
	if options["no-tail"] != "" {
		tail = tailNever
	} else if options["tail"] != "" {
		tail = tailAlways
	}
	job, failure := startCommand(words, environment, tail)
	report := startReport(subject, settings)
	var end ended
	var text string
	if failure != nil {
		say(failure.Error())
		end, text = ended{code: failure.code}, endOf(failure.Error())
	} else {
		end, text = job.wait()
	}
	result := report.end(end, text)
	for _, warning := range result.warnings {
		say(warning)
	}
	if options["verbose"] != "" {
		for _, problem := range result.problems {
			say(problem)
		}
	}
	endLike(end)
	return end.code, nil
}

// When the last lines of standard error are recorded: if only the command writes to it, always, or
// never.
type tailMode int

const (
	tailUsually tailMode = iota
	tailAlways
	tailNever
)

// The command cannot be run. The exit code is the one that shells and env(1) use.
type cannotRun struct {
	program, reason string
	code            int
}

func (e *cannotRun) Error() string { return e.program + ": " + e.reason }

func parseExec(args []string) (words []string, options values, err error) {
	own := args
	for at, arg := range args {
		if arg == "--" {
			own, words = args[:at], args[at+1:]
			break
		}
	}
	options, _, err = parseOptions(own, optionSpec{
		texts: []string{"automation", "execution", "description", "spool", "timeout-ms", "url", "token-file", "ca-file"},
		flags: []string{"tail", "no-tail", "verbose", "dry-run"},
	}, `: the command follows "--"`)
	switch automation := options["automation"]; {
	case err != nil:
	case len(words) == 0:
		err = usagef(`no command follows "--"`)
	case automation == "":
		err = usagef("--automation is required: the id of the automation, a UUID")
	case !uuidForm.MatchString(automation):
		err = usagef("--automation must be a UUID")
	default:
		if execution, given := options["execution"]; given {
			err = requireExecution(execution)
		}
	}
	return words, options, err
}

// The same rules as those of ingest.
func requireExecution(execution string) error {
	switch {
	case execution == "" || utf8.RuneCountInString(execution) > 255:
		return usagef("--execution must have 1 to 255 characters")
	case execution == "." || execution == "..":
		return usagef("--execution must not be . or .., which no address can hold")
	}
	return nil
}

// The environment of a job: with the ids of its run, for `runledger event`, and without a token.
// Everything else keeps its bytes and its order.
func environmentOfJob(environment []string, more map[string]string) []string {
	kept := make([]string, 0, len(environment)+len(more))
	for _, entry := range originalEnvironment(environment) {
		name, _, _ := strings.Cut(entry, "=")
		if _, replaced := more[name]; !replaced && name != "RUNLEDGER_TOKEN" {
			kept = append(kept, entry)
		}
	}
	for _, name := range []string{"RUNLEDGER_AUTOMATION_ID", "RUNLEDGER_EXECUTION_ID", "RUNLEDGER_RECEIVER"} {
		kept = append(kept, name+"="+more[name])
	}
	return kept
}

// Prints what would be sent, and whether the settings allow it. Starts nothing.
func dryRun(run subject, settings settings) (int, error) {
	fmt.Printf("START %s %s %q\n", run.automation, run.execution, run.description)
	if _, err := settings.ingest(); err != nil {
		return 1, err
	}
	return 0, nil
}
