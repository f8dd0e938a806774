// Command runledger reports runs of commands to Runledger, and reads its record. It runs on other
// people's hosts, beside jobs that it must not disturb: one static binary, standard library only.
package main

import (
	"errors"
	"fmt"
	"os"
)

// Exit codes for wrong arguments. `exec` uses that of env(1), since its command may use 2.
const (
	wrongUsageOfExec = 125
	wrongUsage       = 2
)

// A subcommand. It returns its exit code.
type command func(args []string) (int, error)

func commands() map[string]command {
	return map[string]command{
		"exec":       runExec,
		"event":      runEvent,
		"flush":      runFlush,
		"executions": runExecutions,
		"events":     runEvents,
		"tail":       runTail,
		"doctor":     runDoctor,
		"install":    runInstall,
		"completion": runCompletion,
	}
}

func main() {
	args := os.Args[1:]
	// Copies of itself that `exec` starts.
	switch first(args) {
	case relayCommand:
		relayRest()
		return
	case becomeCommand:
		os.Exit(becomeCommandOf(args[1:]))
	}
	os.Exit(run(args))
}

func run(args []string) int {
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if wantsHelp(name, args) {
		if name == "help" {
			name = first(args)
		}
		fmt.Print(helpOf(name))
		return 0
	}
	if name == "--version" || name == "version" {
		fmt.Println(version)
		return 0
	}
	run, known := commands()[name]
	if !known {
		message := fmt.Sprintf("unknown command %q", name)
		if name == "" {
			message = "the command is missing"
		}
		say(message + "; see: runledger help")
		return wrongUsage
	}
	code, err := run(args)
	if err == nil {
		return code
	}
	var usage *usageError
	if !errors.As(err, &usage) {
		say(err.Error())
		return 1
	}
	say(fmt.Sprintf("%s; see: runledger %s --help", usage.message, name))
	if name == "exec" {
		return wrongUsageOfExec
	}
	return wrongUsage
}

// The command of exec follows `--`, with its own options.
func wantsHelp(name string, args []string) bool {
	if name == "help" || name == "--help" || name == "-h" {
		return true
	}
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--help" || arg == "-h" {
			return true
		}
	}
	return false
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// Prints one line to standard error. The exit code never depends on whether anybody reads it.
func say(message string) {
	writeAll(2, []byte("runledger: "+message+"\n"))
}
