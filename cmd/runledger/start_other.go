//go:build unix && !(linux && (amd64 || arm64))

package main

import "syscall"

func ignoredAtStart() []syscall.Signal { return nil }

func wasClosedAtStart(int) bool { return false }
