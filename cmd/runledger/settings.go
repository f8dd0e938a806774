package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The command-line option that overrides a setting of the environment.
var optionOfSetting = map[string]string{
	"RUNLEDGER_URL":             "--url",
	"RUNLEDGER_TOKEN_FILE":      "--token-file",
	"RUNLEDGER_CONSOLE_URL":     "--console",
	"RUNLEDGER_READ_TOKEN_FILE": "--token-file",
	"RUNLEDGER_CA_FILE":         "--ca-file",
	"RUNLEDGER_SPOOL":           "--spool",
	"RUNLEDGER_TIMEOUT_MS":      "--timeout-ms",
}

// A setting is missing or wrong. The message names it, never its value.
type settingError struct{ message string }

func (e *settingError) Error() string { return e.message }

func settingf(format string, values ...any) error {
	return &settingError{fmt.Sprintf(format, values...)}
}

// The settings of a command: options, then the environment.
type settings struct{ found map[string]string }

// Where a command finds Runledger. `ca` holds certificates (PEM) to trust instead of the system's;
// empty if there are none.
type target struct {
	url   *url.URL
	token string
	ca    []byte
}

func readSettings(options values, settingOf map[string]string) settings {
	found := map[string]string{}
	for _, name := range []string{
		"RUNLEDGER_URL", "RUNLEDGER_TOKEN", "RUNLEDGER_TOKEN_FILE", "RUNLEDGER_CONSOLE_URL",
		"RUNLEDGER_READ_TOKEN", "RUNLEDGER_READ_TOKEN_FILE", "RUNLEDGER_CA_FILE", "RUNLEDGER_SPOOL",
		"RUNLEDGER_SPOOL_MAX_BYTES", "RUNLEDGER_SPOOL_MAX_EVENTS", "RUNLEDGER_TIMEOUT_MS", "RUNLEDGER_RECEIVER",
	} {
		if value := os.Getenv(name); value != "" {
			found[name] = value
		}
	}
	for option, name := range settingOf {
		value, given := options[option]
		if !given {
			continue
		}
		found[name] = value
		// A file on the command line overrides a token in the environment.
		if token, isFile := strings.CutSuffix(name, "_FILE"); isFile && strings.HasSuffix(token, "TOKEN") {
			delete(found, token)
		}
	}
	return settings{found}
}

// Where events go.
func (s settings) ingest() (target, error) { return s.target("RUNLEDGER_URL", "RUNLEDGER_TOKEN") }

// Where the record is read from.
func (s settings) console() (target, error) {
	return s.target("RUNLEDGER_CONSOLE_URL", "RUNLEDGER_READ_TOKEN")
}

func (s settings) target(addressName, tokenName string) (target, error) {
	address, err := httpsAddress(addressName, s.found[addressName])
	if err != nil {
		return target{}, err
	}
	token, err := s.token(tokenName)
	if err != nil {
		return target{}, err
	}
	var ca []byte
	if file := s.found["RUNLEDGER_CA_FILE"]; file != "" {
		if ca, err = readText("RUNLEDGER_CA_FILE", file); err != nil {
			return target{}, err
		}
	}
	return target{address, token, ca}, nil
}

var visibleASCII = regexp.MustCompile(`^[!-~]+$`)

func (s settings) token(name string) (string, error) {
	token, file := s.found[name], s.found[name+"_FILE"]
	if token != "" && file != "" {
		return "", settingf("%s and %s_FILE are both set", name, name)
	}
	if file != "" {
		text, err := readText(name+"_FILE", file)
		if err != nil {
			return "", err
		}
		token = strings.TrimSpace(string(text))
	}
	if token == "" {
		return "", settingf("%s or %s is required: it holds the token", name, described(name+"_FILE"))
	}
	if !visibleASCII.MatchString(token) {
		return "", settingf("%s must be visible ASCII characters, without spaces", name)
	}
	return token, nil
}

// The name of the receiver's folder in the spool: events of one organization must never reach
// another. A token in a file may be replaced; the receiver stays the same. A job under `exec` uses
// the folder of its parent, since it does not know the token.
func (s settings) receiverFolder() string {
	if given := s.found["RUNLEDGER_RECEIVER"]; receiverForm.MatchString(given) && s.found["RUNLEDGER_TOKEN"] == "" {
		return given
	}
	kind, value := "token", s.found["RUNLEDGER_TOKEN"]
	if file := s.found["RUNLEDGER_TOKEN_FILE"]; file != "" {
		kind, value = "file", file
	}
	digest := sha256.Sum256([]byte(jsonOf([]string{s.found["RUNLEDGER_URL"], kind, value})))
	return hex.EncodeToString(digest[:])[:12]
}

var receiverForm = regexp.MustCompile(`^[\da-f]{12}$`)

// The folder of all spools, and the limits of each.
func (s settings) spool() (folder string, maxBytes, maxEvents int64, err error) {
	if maxBytes, err = s.number("RUNLEDGER_SPOOL_MAX_BYTES", 16*1024*1024); err != nil {
		return
	}
	if maxEvents, err = s.number("RUNLEDGER_SPOOL_MAX_EVENTS", 10_000); err != nil {
		return
	}
	if folder = s.found["RUNLEDGER_SPOOL"]; folder == "" {
		folder, err = defaultSpool()
	}
	return
}

// Maximum wait for Runledger after the end of the command.
func (s settings) timeout() (time.Duration, error) {
	ms, err := s.number("RUNLEDGER_TIMEOUT_MS", 2_000)
	return time.Duration(ms) * time.Millisecond, err
}

var wholeNumber = regexp.MustCompile(`^\d{1,12}$`)

func (s settings) number(name string, usual int64) (int64, error) {
	text := s.found[name]
	if text == "" {
		return usual, nil
	}
	if !wholeNumber.MatchString(text) {
		return usual, settingf("%s must be a whole number", described(name))
	}
	return strconv.ParseInt(text, 10, 64)
}

func httpsAddress(name, text string) (*url.URL, error) {
	if text == "" {
		return nil, settingf("%s is required: the https:// address of Runledger", described(name))
	}
	address, err := url.Parse(text)
	isBare := err == nil && address.User == nil && address.RawQuery == "" && address.Fragment == "" && !address.ForceQuery
	if isBare && address.Scheme == "https" && address.Host != "" {
		return address, nil
	}
	return nil, settingf("%s must be an https:// address without user, query or fragment", described(name))
}

func readText(name, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		return text, nil
	}
	return nil, settingf("%s names an unreadable file: %s (%s)", described(name), file, codeOf(err))
}

// The short name of a system error, such as ENOENT.
func codeOf(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return "unreadable"
	}
	if name := nameOfErrno(number); name != "" {
		return name
	}
	return number.Error()
}

func described(name string) string {
	if option := optionOfSetting[name]; option != "" {
		return fmt.Sprintf("%s (%s)", option, name)
	}
	return name
}

func defaultSpool() (string, error) {
	if folder := spoolOfSystem(); folder != "" {
		return folder, nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		return filepath.Join(state, "runledger"), nil
	}
	home := homeFolder()
	if !filepath.IsAbs(home) {
		return "", settingf("this user has no home directory; set %s", described("RUNLEDGER_SPOOL"))
	}
	return filepath.Join(home, ".local", "state", "runledger"), nil
}
