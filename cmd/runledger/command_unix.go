//go:build unix

package main

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

type process struct {
	pid     int
	streams *streams
}

// Starts a command in this process group, with this terminal, these descriptors, limits and
// signals. Signals are caught from before the start, so that none ends this process alone.
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

// Searches PATH as execvp(3) does: a folder that cannot be searched is remembered and passed by, a
// file that is no program is a script of sh.
func spawn(words, environment []string, streams *streams) (int, *cannotRun) {
	program := words[0]
	failure := syscall.ENOENT
	for _, candidate := range candidates(program) {
		pid, err := fork(candidate, words, environment, streams)
		if err == syscall.ENOEXEC {
			pid, err = fork("/bin/sh", append([]string{"sh", candidate}, words[1:]...), environment, streams)
		}
		switch err {
		case nil:
			return pid, nil
		case syscall.EACCES:
			failure = syscall.EACCES
		case syscall.ENOENT, syscall.ENOTDIR, syscall.ESTALE, syscall.ENODEV, syscall.ETIMEDOUT:
		default:
			number, _ := err.(syscall.Errno)
			return 0, cannotRunBecause(program, number)
		}
	}
	return 0, cannotRunBecause(program, failure)
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
		if folder == "" {
			folder = "."
		}
		found = append(found, folder+"/"+program)
	}
	return found
}

// Forks with this process' descriptors. Those beyond 2 are inherited: Go opens its own with
// close-on-exec.
func fork(file string, words, environment []string, streams *streams) (int, error) {
	return syscall.ForkExec(file, words, &syscall.ProcAttr{
		Env:   environment,
		Files: streams.files(),
	})
}

func (p *process) wait() (ended, string) {
	var status syscall.WaitStatus
	for {
		found, err := syscall.Wait4(p.pid, &status, 0, nil)
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

// Signals that this process keeps to itself: of its children, of its own runtime and writes, and
// those by which a terminal stops a background group, which stop this process too.
var own = []os.Signal{
	syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGXCPU, syscall.SIGTTIN, syscall.SIGTTOU,
}

// Catches every signal that ends or stops a process, but those that this process was started to
// ignore: its child ignores them too.
func catchSignals() chan os.Signal {
	caught := make(chan os.Signal, 64)
	signal.Notify(caught)
	signal.Reset(syscall.SIGTTIN, syscall.SIGTTOU)
	for _, number := range ignoredAtStart() {
		signal.Ignore(number)
	}
	return caught
}

// Passes signals on, each once: those that the terminal has sent to the command itself are left
// out. A SIGTSTP stops this process too.
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

func isOwn(number syscall.Signal) bool {
	for _, each := range own {
		if each == number {
			return true
		}
	}
	return false
}

// The environment block as the kernel has it: Go drops names that come twice.
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

// Root has a spool of the system.
func spoolOfSystem() string {
	if syscall.Getuid() == 0 {
		return filepath.FromSlash("/var/spool/runledger")
	}
	return ""
}
