//go:build unix

package main

import (
	"os"
	"syscall"
	"unsafe"
)

func isTerminal(fd int) bool {
	var state syscall.Termios
	return ioctl(fd, getAttributes, unsafe.Pointer(&state)) == nil
}

// True if the keys of the terminal send signals to this process group.
func isInForeground() bool {
	fd, err := syscall.Open("/dev/tty", syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }()
	var group int32
	return ioctl(fd, syscall.TIOCGPGRP, unsafe.Pointer(&group)) == nil && int(group) == syscall.Getpgrp()
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	_, _, number := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
	if number != 0 {
		return number
	}
	return nil
}

// The home directory, from the environment or from the user database.
func homeFolder() string {
	if home, given := os.LookupEnv("HOME"); given {
		return home
	}
	return homeOfUser()
}
