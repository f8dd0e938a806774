//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// The descriptors 1 and 2 of a command. Standard error passes through a pipe of this process if
// that changes nothing for the command: then its last lines can be recorded, and nothing of others.
type streams struct {
	reader, writer *os.File
	isJoined       bool // standard output passes through the pipe too
	end            *lastBytes
	done           chan struct{}
	broken         atomic.Bool
}

func chooseStreams(mode tailMode) *streams {
	var out, stderr syscall.Stat_t
	if mode == tailNever || wasClosedAtStart(2) || syscall.Fstat(2, &stderr) != nil || isTerminal(2) {
		return &streams{}
	}
	isSame := !wasClosedAtStart(1) && syscall.Fstat(1, &out) == nil && out.Dev == stderr.Dev && out.Ino == stderr.Ino && !isNull(stderr)
	kind := stderr.Mode & syscall.S_IFMT
	canPass := kind == syscall.S_IFIFO || kind == syscall.S_IFREG || isNull(stderr)
	// If both outputs are one file, only a shared pipe keeps their order, and it records both.
	if isSame && mode != tailAlways || !canPass && mode != tailAlways {
		return &streams{}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return &streams{}
	}
	// A command of another user may open /dev/stderr if it could open what the pipe replaces. Other
	// systems than Linux may refuse this for a pipe.
	_ = writer.Chmod(os.FileMode(stderr.Mode & 0o777))
	_ = writer.Chown(int(stderr.Uid), int(stderr.Gid))
	return &streams{reader: reader, writer: writer, isJoined: isSame, end: &lastBytes{}, done: make(chan struct{})}
}

func isNull(stat syscall.Stat_t) bool {
	var null syscall.Stat_t
	return syscall.Stat("/dev/null", &null) == nil && stat.Rdev == null.Rdev && stat.Mode&syscall.S_IFMT == syscall.S_IFCHR
}

// The descriptors 0, 1 and 2 for the command. One that was closed stays closed.
func (s *streams) files() []uintptr {
	files := []uintptr{0, 1, 2}
	if s.writer != nil {
		fd := s.writer.Fd()
		// Go makes non-blocking pipes; the command expects a blocking one.
		_ = syscall.SetNonblock(int(fd), false)
		files[2] = fd
		if s.isJoined {
			files[1] = fd
		}
	}
	for fd := range files {
		if wasClosedAtStart(fd) && files[fd] == uintptr(fd) {
			files[fd] = ^uintptr(0)
		}
	}
	return files
}

// Call it once the command has its descriptors.
func (s *streams) started() {
	if s.writer == nil {
		return
	}
	_ = s.writer.Close()
	go s.pass()
}

func (s *streams) abandon() {
	if s.reader != nil {
		_ = s.reader.SetReadDeadline(time.Now())
		<-s.done
		_ = s.reader.Close()
	}
}

// Passes everything on, immediately and unchanged, until the end of the pipe or a deadline.
func (s *streams) pass() {
	defer close(s.done)
	for {
		space := s.end.space()
		length, err := s.reader.Read(space)
		if length > 0 && !s.forward(space[:length]) {
			return
		}
		if err != nil {
			return
		}
	}
}

// Returns false if nobody reads any more: then the pipe closes, and the command gets SIGPIPE at its
// next write, as without this process.
func (s *streams) forward(chunk []byte) bool {
	s.end.took(len(chunk))
	if writeAll(2, chunk) {
		return true
	}
	s.broken.Store(true)
	_ = s.reader.Close()
	return false
}

// Returns the last lines once everything that the command wrote is passed on. If another process
// still holds the pipe, a copy of this program keeps passing on in the background.
func (s *streams) finish() string {
	if s.reader == nil {
		return ""
	}
	_ = s.reader.SetReadDeadline(time.Now())
	<-s.done
	if !s.broken.Load() && !s.drain() {
		s.handOver()
	}
	_ = s.reader.Close()
	return s.end.lastLines()
}

// Reads what the pipe holds. Returns true at its end: no other process holds it.
func (s *streams) drain() bool {
	connection, err := s.reader.SyscallConn()
	if err != nil {
		return true
	}
	atEnd := false
	_ = connection.Control(func(fd uintptr) {
		for budget := 1 << 20; budget > 0; {
			space := s.end.space()
			length, err := syscall.Read(int(fd), space)
			if err == syscall.EINTR {
				continue
			}
			if err != nil || length <= 0 {
				atEnd = err == nil
				return
			}
			budget -= length
			s.end.took(length)
			if !writeAll(2, space[:length]) {
				s.broken.Store(true)
				atEnd = true
				return
			}
		}
	})
	return atEnd
}

const relayCommand = "pass-standard-error-on"

func (s *streams) handOver() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	rest := exec.Command(program, relayCommand)
	rest.Stdin = s.reader
	rest.Stderr = os.Stderr
	rest.Env = []string{}
	rest.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = rest.Start()
}

// Passes standard input on to standard error, until its end.
func relayRest() {
	buffer := make([]byte, 64*1024)
	_ = syscall.SetNonblock(0, false)
	for {
		length, err := syscall.Read(0, buffer)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || length <= 0 || !writeAll(2, buffer[:length]) {
			return
		}
	}
}

// Returns false if nobody reads any more. Waits while a non-blocking file accepts nothing.
func writeAll(fd int, chunk []byte) bool {
	for len(chunk) > 0 {
		length, err := syscall.Write(fd, chunk)
		if errors.Is(err, syscall.EAGAIN) {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return false
		}
		chunk = chunk[length:]
	}
	return true
}
