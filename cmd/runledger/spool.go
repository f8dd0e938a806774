package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A folder of events that Runledger has not confirmed. Any number of processes may share it.
type spool struct {
	folder              string
	maxBytes, maxEvents int64
	unusable            error
	mutex               sync.Mutex
	sequence            int
}

// The spool is full, or its disk hangs. It may take events later.
type spoolUnavailable struct{ message string }

func (e *spoolUnavailable) Error() string { return e.message }

// `<ms>-<number>-<key>-<bytes>.json`: names sort by time and include the size.
var nameForm = regexp.MustCompile(`^(\d{15})-(\d{3,})-[\da-f-]{36}-(\d+)\.json$`)

// A temporary file of this age was left by a killed process.
const abandoned = time.Hour

// The folder, beside the waiting events, for events that Runledger refused for good, and the end of
// the names of the files with the reasons.
const (
	refusedFolder = "refused"
	reasonSuffix  = ".reason"
)

// A refused event: where it is kept, and why it was refused.
type refusal struct{ event, reason string }

// Call it once somebody has been told.
func (r refusal) told() { _ = os.Remove(r.event + reasonSuffix) }

// Writes an event and returns its name in the spool. After that, a crash does not lose it.
func (s *spool) add(event outgoing) (string, error) {
	if s.unusable != nil {
		return "", s.unusable
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.sequence++
	name, err := s.write(event, jsonOf(event))
	var number syscall.Errno
	if errors.As(err, &number) && isDiskFull(number) {
		return "", &spoolUnavailable{err.Error()}
	}
	return name, err
}

func (s *spool) write(event outgoing, text string) (string, error) {
	if err := s.prepare(); err != nil {
		return "", err
	}
	count, bytes := int64(0), int64(len(text))
	for _, name := range s.names() {
		size, _ := strconv.ParseInt(nameForm.FindStringSubmatch(name)[3], 10, 64)
		count, bytes = count+1, bytes+size
	}
	if count >= s.maxEvents {
		return "", &spoolUnavailable{fmt.Sprintf("the spool has %d events already", s.maxEvents)}
	}
	if bytes > s.maxBytes {
		return "", &spoolUnavailable{fmt.Sprintf("the spool would have more than %d bytes", s.maxBytes)}
	}
	name := fmt.Sprintf("%015d-%03d-%s-%d.json", event.At, s.sequence, event.Key, len(text))
	return name, s.place(name, text)
}

// Makes the folder, and trusts it only if it belongs to this user and is closed to others: its
// files are sent on behalf of the token's owner.
func (s *spool) prepare() error {
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	return requirePrivate(s.folder)
}

func (s *spool) place(name, text string) error {
	temporary := filepath.Join(s.folder, "."+newUUID())
	if err := writeDurably(temporary, text); err != nil {
		_ = os.Remove(temporary)
		return err
	}
	if err := os.Rename(temporary, filepath.Join(s.folder, name)); err != nil {
		_ = os.Remove(temporary)
		return err
	}
	return syncFolder(s.folder)
}

func writeDurably(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		// The file name is different each time and says nothing.
		return fmt.Errorf("%s: %w", filepath.Dir(path), errors.Unwrap(err))
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}

// The names of the events in the folder. Removes files that killed processes left.
func (s *spool) names() []string {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			s.removeIfAbandoned(entry)
		} else if nameForm.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// The names of the waiting events, oldest first; none if the folder cannot be trusted.
func (s *spool) waiting() []string {
	if s.unusable != nil || requirePrivate(s.folder) != nil {
		return nil
	}
	names := s.names()
	sort.Strings(names)
	return names
}

// How many events Runledger refused.
func (s *spool) refused() int {
	count := 0
	entries, _ := os.ReadDir(filepath.Join(s.folder, refusedFolder))
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), reasonSuffix) {
			count++
		}
	}
	return count
}

// Reads an event. `gone` if another process has removed it, not `ok` if the file is damaged.
func (s *spool) read(name string) (event outgoing, ok bool, gone bool) {
	text, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		return outgoing{}, false, errors.Is(err, fs.ErrNotExist)
	}
	err = json.Unmarshal(text, &event)
	return event, err == nil && event.Key != "" && event.Body != "" && event.At > 0, false
}

// Removes an event, unless another process already has.
func (s *spool) remove(name string) { _ = os.Remove(filepath.Join(s.folder, name)) }

// Sets aside an event that Runledger refused for good, for people to look at. The reason stays
// beside it until `flush` has told it.
func (s *spool) setAside(name, reason string) {
	aside := filepath.Join(s.folder, refusedFolder)
	_ = os.Mkdir(aside, 0o700)
	if os.Rename(filepath.Join(s.folder, name), filepath.Join(aside, name)) == nil {
		_ = os.WriteFile(filepath.Join(aside, name+reasonSuffix), []byte(reason), 0o600)
	}
}

// The refused events that nobody has been told of.
func (s *spool) untold() []refusal {
	if s.unusable != nil || requirePrivate(s.folder) != nil {
		return nil
	}
	var found []refusal
	aside := filepath.Join(s.folder, refusedFolder)
	entries, _ := os.ReadDir(aside)
	for _, entry := range entries {
		path := filepath.Join(aside, entry.Name())
		event, isReason := strings.CutSuffix(path, reasonSuffix)
		if !isReason {
			continue
		}
		if reason, err := os.ReadFile(path); err == nil {
			found = append(found, refusal{event, cmp.Or(string(reason), "the reason is lost")})
		}
	}
	return found
}

func (s *spool) removeIfAbandoned(entry fs.DirEntry) {
	if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
		_ = os.Remove(filepath.Join(s.folder, entry.Name()))
	}
}
