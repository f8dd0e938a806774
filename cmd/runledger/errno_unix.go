//go:build unix

package main

import "syscall"

// The name of a common system error.
func nameOfErrno(number syscall.Errno) string {
	switch number {
	case syscall.ENOENT:
		return "ENOENT"
	case syscall.EACCES:
		return "EACCES"
	case syscall.EPERM:
		return "EPERM"
	case syscall.ENOTDIR:
		return "ENOTDIR"
	case syscall.EISDIR:
		return "EISDIR"
	case syscall.EROFS:
		return "EROFS"
	case syscall.ELOOP:
		return "ELOOP"
	case syscall.ENOSPC:
		return "ENOSPC"
	case syscall.EDQUOT:
		return "EDQUOT"
	}
	return ""
}

func isDiskFull(number syscall.Errno) bool {
	return number == syscall.ENOSPC || number == syscall.EDQUOT || number == syscall.EFBIG
}
