//go:build unix

package main

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

type process struct {
	pid     int
	streams *streams
}

// Starts a command in the same process group, with the same terminal, descriptors, limits and
// signals. Signals are caught before the start, so that none ends only this process.
func startCommand(words, environment []string, tail tailMode) (running, *cannotRun) {
	caught := catchSignals()
	streams := chooseStreams(tail)
	pid, failure := spawn(words, environment, streams)
	streams.started()
	if failure != nil {
		streams.abandon()
		return nil, failure
	}
	go passSignalsOn(caught, pid)
	return &process{pid, streams}, nil
}

// Forks the program that the words name. A process that ignores SIGCHLD cannot learn how its
// children end. If the command has to ignore it, this program starts itself again in place of the
// command, and that copy becomes the command.
func spawn(words, environment []string, streams *streams) (pid int, failure *cannotRun) {
	if isIgnoredAtStart(syscall.SIGCHLD) {
		if self, err := os.Executable(); err == nil {
			if pid, err = fork(self, append([]string{self, becomeCommand}, words...), environment, streams); err == nil {
				return pid, nil
			}
		}
	}
	failure = searchPath(words, func(file string, words []string) (err error) {
		pid, err = fork(file, words, environment, streams)
		return err
	})
	return pid, failure
}

const becomeCommand = "become-a-command-that-ignores-sigchld"

// Replaces this process with a command that ignores SIGCHLD. Returns an exit code if that fails.
func becomeCommandOf(words []string) int {
	signal.Ignore(syscall.SIGCHLD)
	for _, number := range ignoredAtStart() {
		signal.Ignore(number)
	}
	environment := originalEnvironment(os.Environ())
	for fd := range 3 {
		if wasClosedAtStart(fd) {
			_ = syscall.Close(fd)
		}
	}
	failure := searchPath(words, func(file string, words []string) error {
		return syscall.Exec(file, words, environment)
	})
	say(failure.Error())
	return failure.code
}

// Searches PATH as execvp(3) does: a folder that cannot be searched is remembered and skipped, and
// a file that is no program is run as a script by sh.
func searchPath(words []string, start func(file string, words []string) error) *cannotRun {
	program := words[0]
	failure := syscall.ENOENT
	for _, candidate := range candidates(program) {
		err := start(candidate, words)
		if err == syscall.ENOEXEC {
			err = start("/bin/sh", append([]string{"sh", candidate}, words[1:]...))
		}
		switch err {
		case nil:
			return nil
		case syscall.EACCES:
			failure = syscall.EACCES
		case syscall.ENOENT, syscall.ENOTDIR, syscall.ESTALE, syscall.ENODEV, syscall.ETIMEDOUT:
		default:
			number, _ := err.(syscall.Errno)
			return cannotRunBecause(program, number)
		}
	}
	return cannotRunBecause(program, failure)
}

func cannotRunBecause(program string, number syscall.Errno) *cannotRun {
	switch number {
	case syscall.ENOENT:
		return &cannotRun{program, "No such file or directory", 127}
	case syscall.EACCES:
		return &cannotRun{program, "Permission denied", 126}
	}
	return &cannotRun{program, number.Error(), 126}
}

func candidates(program string) []string {
	if strings.Contains(program, "/") {
		return []string{program}
	}
	if program == "" {
		return nil
	}
	path, given := os.LookupEnv("PATH")
	if !given {
		path = "/bin:/usr/bin"
	}
	var found []string
	for _, folder := range strings.Split(path, ":") {
		// An empty entry is the current folder.
		if folder != "" {
			folder += "/"
		}
		found = append(found, folder+program)
	}
	return found
}

// Forks with the descriptors of this process. Those above 2 are inherited: Go opens its own with
// close-on-exec.
func fork(file string, words, environment []string, streams *streams) (int, error) {
	return syscall.ForkExec(file, words, &syscall.ProcAttr{
		Env:   environment,
		Files: streams.files(),
	})
}

// Waits until the command has ended. Process 1 of a container inherits orphans, and reaps them too;
// nothing else in this program has children until then.
func (p *process) wait() (ended, string) {
	whose := p.pid
	if syscall.Getpid() == 1 {
		whose = -1
	}
	var status syscall.WaitStatus
	for {
		found, err := syscall.Wait4(whose, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || found == p.pid {
			break
		}
	}
	end := ended{code: status.ExitStatus()}
	if status.Signaled() {
		end = ended{signal: signalName(status.Signal()), number: int(status.Signal())}
	}
	return end, p.streams.finish()
}

// Signals that are not passed on: those about children, the Go runtime and writes, and those with
// which a terminal stops a background group, which stop this process too.
var own = []os.Signal{
	syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGXCPU, syscall.SIGTTIN, syscall.SIGTTOU,
}

// Catches every signal that ends or stops a process, except those that this process was started to
// ignore: its child ignores them too. SIGCHLD is an exception (see spawn).
func catchSignals() chan os.Signal {
	caught := make(chan os.Signal, 64)
	signal.Notify(caught)
	signal.Reset(syscall.SIGTTIN, syscall.SIGTTOU)
	for _, number := range ignoredAtStart() {
		if number != syscall.SIGCHLD {
			signal.Ignore(number)
		}
	}
	return caught
}

// Passes each signal on once, except those that the terminal has sent to the command as well. A
// SIGTSTP stops this process too.
func passSignalsOn(caught chan os.Signal, pid int) {
	for received := range caught {
		number, isNumber := received.(syscall.Signal)
		if !isNumber || isOwn(number) {
			continue
		}
		ofTerminal := number == syscall.SIGINT || number == syscall.SIGQUIT || number == syscall.SIGTSTP ||
			number == syscall.SIGWINCH
		if !ofTerminal || !isInForeground() {
			_ = syscall.Kill(pid, number)
		}
		if number == syscall.SIGTSTP {
			stopUntilContinued()
		}
	}
}

func isIgnoredAtStart(number syscall.Signal) bool {
	return slices.Contains(ignoredAtStart(), number)
}

func isOwn(number syscall.Signal) bool {
	return slices.Contains(own, os.Signal(number))
}

// The environment block as the kernel has it: Go drops repeated names.
func originalEnvironment(environment []string) []string {
	block, err := os.ReadFile("/proc/self/environ")
	if err != nil || len(block) == 0 {
		return environment
	}
	var entries []string
	for _, entry := range bytes.Split(bytes.TrimSuffix(block, []byte{0}), []byte{0}) {
		entries = append(entries, string(entry))
	}
	return entries
}

// The spool of root is the system's.
func spoolOfSystem() string {
	if syscall.Getuid() == 0 {
		return filepath.FromSlash("/var/spool/runledger")
	}
	return ""
}
