//go:build linux && (amd64 || arm64)

package main

import "syscall"

// What start_linux_*.s saw before Go's runtime started: bit n-1 of `ignoredSignals` for signal n,
// bit n of `closedDescriptors` for descriptor n. Zero in a binary that was linked without `-E
// entry`.
var (
	ignoredSignals    uint64
	closedDescriptors uint64
)

// Signals that this process was started to ignore. The runtime replaces most dispositions.
func ignoredAtStart() []syscall.Signal {
	var found []syscall.Signal
	for number := syscall.Signal(1); number <= 64; number++ {
		if ignoredSignals>>(number-1)&1 == 1 {
			found = append(found, number)
		}
	}
	return found
}

// True if a standard descriptor was closed at the start. The runtime opens /dev/null in its place.
func wasClosedAtStart(fd int) bool { return closedDescriptors>>fd&1 == 1 }
