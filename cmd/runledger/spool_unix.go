//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// The same rule as that of ssh for its files.
func requirePrivate(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner, isKnown := info.Sys().(*syscall.Stat_t)
	if isKnown && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", folder)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is open to other users: chmod 700 it", folder)
	}
	return nil
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	return folder.Sync()
}
