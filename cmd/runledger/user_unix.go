//go:build unix

package main

import "os/user"

func homeOfUser() string {
	found, err := user.Current()
	if err != nil {
		return ""
	}
	return found.HomeDir
}
