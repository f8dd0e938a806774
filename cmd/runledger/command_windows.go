package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

type process struct {
	command *exec.Cmd
	end     *lastBytes
	passed  sync.WaitGroup
}

// Starts a command in the same console, with the input and outputs of this process. It gets Ctrl-C
// and Ctrl-Break from the console itself; this process only ignores them until the command has
// ended.
func startCommand(words, environment []string, tail tailMode) (running, *cannotRun) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	program, err := exec.LookPath(words[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, &cannotRun{words[0], "not found", 127}
	}
	command := exec.Command(program, words[1:]...)
	command.Args[0] = words[0]
	command.Env = environment
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The words as the caller wrote them: each program has its own rules for splitting a command line.
	command.SysProcAttr = &syscall.SysProcAttr{CmdLine: restOfCommandLine()}
	p := &process{command: command, end: &lastBytes{}}
	var reader, writer *os.File
	if tail != tailNever && !isTerminal(2) && (tail == tailAlways || !areSameFile()) {
		if reader, writer, err = os.Pipe(); err == nil {
			command.Stderr = writer
		}
	}
	err = command.Start()
	if writer != nil {
		_ = writer.Close()
	}
	if err != nil {
		return nil, &cannotRun{words[0], err.Error(), 126}
	}
	if writer != nil {
		p.passed.Go(func() { p.pass(reader) })
	}
	return p, nil
}

func (p *process) pass(reader *os.File) {
	defer func() { _ = reader.Close() }()
	for {
		space := p.end.space()
		length, err := reader.Read(space)
		if length > 0 {
			p.end.took(length)
			if !writeAll(2, space[:length]) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *process) wait() (ended, string) {
	err := p.command.Wait()
	p.passed.Wait()
	code := p.command.ProcessState.ExitCode()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		code = 126
	}
	return ended{code: code}, p.end.lastLines()
}

// What follows `--` in the command line of this process, with the caller's quotes.
func restOfCommandLine() string {
	line := syscall.UTF16ToString((*[1 << 20]uint16)(unsafe.Pointer(syscall.GetCommandLine()))[:])
	start, backslashes, isQuoted := -1, 0, false
	for at, letter := range line {
		isSpace := (letter == ' ' || letter == '\t') && !isQuoted
		if isSpace && start >= 0 && strings.Trim(line[start:at], `"`) == "--" {
			return strings.TrimLeft(line[at:], " \t")
		}
		if letter == '"' && backslashes%2 == 0 {
			isQuoted = !isQuoted
		}
		if letter == '\\' {
			backslashes++
		} else {
			backslashes = 0
		}
		if isSpace {
			start = -1
		} else if start < 0 {
			start = at
		}
	}
	return ""
}

func areSameFile() bool {
	out, err := os.Stdout.Stat()
	if err != nil {
		return false
	}
	stderr, err := os.Stderr.Stat()
	return err == nil && os.SameFile(out, stderr)
}

func isTerminal(fd int) bool {
	var mode uint32
	handle := syscall.Handle([]*os.File{os.Stdin, os.Stdout, os.Stderr}[fd].Fd())
	return syscall.GetConsoleMode(handle, &mode) == nil
}

func endLike(end ended) { os.Exit(end.code) }

func originalEnvironment(environment []string) []string { return environment }

// Not needed on Windows: no process inherits a pipe unless told to, and there are no signals.
const (
	relayCommand  = "pass-standard-error-on"
	becomeCommand = "become-a-command-that-ignores-sigchld"
)

func relayRest() { _, _ = io.Copy(os.Stderr, os.Stdin) }

func becomeCommandOf([]string) int { return 1 }

func writeAll(fd int, chunk []byte) bool {
	_, err := []*os.File{os.Stdin, os.Stdout, os.Stderr}[fd].Write(chunk)
	return err == nil
}

func nameOfErrno(syscall.Errno) string { return "" }

func isDiskFull(number syscall.Errno) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
	return number == handleDiskFull || number == diskFull
}

// A folder below a user's own inherits permissions that exclude others.
func requirePrivate(folder string) error {
	_, err := os.Stat(folder)
	return err
}

func syncFolder(string) error { return nil }

func spoolOfSystem() string {
	if local := os.Getenv("LOCALAPPDATA"); local != "" && os.Getenv("XDG_STATE_HOME") == "" {
		return filepath.Join(local, "runledger", "spool")
	}
	return ""
}

func homeFolder() string {
	home, _ := os.UserHomeDir()
	return home
}
