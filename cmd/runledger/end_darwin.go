package main

import (
	"os"
	"strconv"
	"syscall"
)

// Go's runtime keeps its own handlers of signals such as SIGSEGV; a shell has none.
func restoreDefault(number syscall.Signal) {
	switch number {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGABRT:
		script := "ulimit -c 0; kill -" + strconv.Itoa(int(number)) + " $$"
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ())
	}
}

// Stops this process. Returns when it continues. A SIGTSTP would reach Go's handler again.
func stopUntilContinued() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }
