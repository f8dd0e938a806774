package main

import (
	"syscall"
	"unsafe"
)

// struct kernel_sigaction of rt_sigaction(2).
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// Go's runtime keeps its own handlers of signals such as SIGSEGV. Only a system call removes them.
func restoreDefault(number syscall.Signal) { exchange(number, &sigaction{}) }

// Sets the action of a signal, and returns the previous one.
func exchange(number syscall.Signal, action *sigaction) (before sigaction) {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(number),
		uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(&before)), 8, 0, 0)
	return before
}

// Stops this process as Ctrl-Z does. Returns when it continues.
func stopUntilContinued() {
	before := exchange(syscall.SIGTSTP, &sigaction{})
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGTSTP)
	exchange(syscall.SIGTSTP, &before)
}
