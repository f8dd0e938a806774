//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

var signalNames = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
	syscall.SIGKILL: "SIGKILL", syscall.SIGUSR1: "SIGUSR1", syscall.SIGSEGV: "SIGSEGV", syscall.SIGUSR2: "SIGUSR2",
	syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM", syscall.SIGTERM: "SIGTERM", syscall.SIGXCPU: "SIGXCPU",
	syscall.SIGXFSZ: "SIGXFSZ", syscall.SIGVTALRM: "SIGVTALRM", syscall.SIGPROF: "SIGPROF", syscall.SIGIO: "SIGIO",
	syscall.SIGSYS: "SIGSYS",
}

// The name of a signal as in kill(1), with SIG.
func signalName(number syscall.Signal) string {
	if name := signalNames[number]; name != "" {
		return name
	}
	return "SIG" + itoa(int(number))
}

// How long a signal may take to end this process.
const signalGrace = 2 * time.Second

// Ends this process as the command ended: with its exit code or by the same signal. The command may
// have left a core dump; this process leaves none.
func endLike(end ended) {
	if end.signal == "" {
		os.Exit(end.code)
	}
	number := syscall.Signal(end.number)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	signal.Reset(number)
	restoreDefault(number)
	_ = syscall.Kill(syscall.Getpid(), number)
	time.Sleep(signalGrace)
	os.Exit(128 + end.number)
}
