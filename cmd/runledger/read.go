package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How messages name the server that the reading commands ask.
const consolePeer = "RUNLEDGER_CONSOLE_URL"

// How long the console may be silent.
const consoleSilence = time.Minute

// The maximum number of items per page of the read API.
const pageSize = 100

var filterOptions = []string{
	"automation", "execution", "error-id", "from", "since", "to", "q", "limit", "console", "token-file", "ca-file",
}

// The read API's parameter for each option that has one.
var parameterOf = map[string]string{
	"automation": "automation", "execution": "execution_id", "error-id": "error_id",
	"from": "from", "since": "from", "to": "to", "q": "q", "state": "state", "kind": "kind",
}

func runExecutions(args []string) (int, error) {
	return list("/v1/executions/", args, "state", executionText)
}

func runEvents(args []string) (int, error) { return list("/v1/events/", args, "kind", eventText) }

func list(path string, args []string, own string, textOf func(json.RawMessage) string) (int, error) {
	spec := optionSpec{texts: append([]string{own}, filterOptions...), flags: []string{"json"}}
	options, _, err := parseOptions(args, spec, "")
	if err != nil {
		return 0, err
	}
	if options["from"] != "" && options["since"] != "" {
		return 0, usagef("--since is the same as --from: give one of them")
	}
	left := 20
	if text, given := options["limit"]; given {
		if !positiveNumber.MatchString(text) {
			return 0, usagef("--limit must be a whole number above 0")
		}
		left, _ = strconv.Atoi(text)
	}
	query := url.Values{}
	for option, parameter := range parameterOf {
		value, given := options[option]
		if !given {
			continue
		}
		if parameter == "from" || parameter == "to" {
			value = timeText(value, time.Now())
		}
		query.Set(parameter, value)
	}
	caller, err := connectToConsole(options)
	if err != nil {
		return 0, err
	}
	for left > 0 {
		query.Set("limit", strconv.Itoa(min(left, pageSize)))
		page, err := readPage(caller, path, query)
		if err != nil {
			return 0, err
		}
		for _, item := range page.Items {
			printItem(item, options["json"] != "", textOf)
		}
		left -= len(page.Items)
		if page.NextCursor == nil || len(page.Items) == 0 {
			break
		}
		query.Set("cursor", *page.NextCursor)
	}
	return 0, nil
}

var positiveNumber = regexp.MustCompile(`^[1-9]\d{0,8}$`)

func printItem(item json.RawMessage, asJSON bool, textOf func(json.RawMessage) string) {
	text := textOf
	if asJSON {
		text = compact
	}
	if _, err := fmt.Println(text(item)); err != nil {
		os.Exit(1)
	}
}

func compact(item json.RawMessage) string {
	var text bytes.Buffer
	if json.Compact(&text, item) != nil {
		return string(item)
	}
	return text.String()
}

type page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor *string           `json:"next_cursor"`
}

func readPage(caller *caller, path string, query url.Values) (page, error) {
	var found page
	answer, err := caller.get(context.Background(), path+"?"+query.Encode())
	if err != nil {
		return found, fmt.Errorf("%s", reasonOf(err, consolePeer))
	}
	if answer.status != http.StatusOK {
		return found, refusalOf(answer)
	}
	return found, json.Unmarshal(answer.body, &found)
}

func connectToConsole(options values) (*caller, error) {
	settings := readSettings(options, map[string]string{
		"console": "RUNLEDGER_CONSOLE_URL", "token-file": "RUNLEDGER_READ_TOKEN_FILE", "ca-file": "RUNLEDGER_CA_FILE",
	})
	target, err := settings.console()
	if err != nil {
		return nil, err
	}
	return newCaller(target, consoleSilence)
}

// The option for each parameter that the console may refuse.
var optionOfParameter = map[string]string{
	"execution_id": "--execution", "error_id": "--error-id",
}

// The error for an answer that is not 200. It names the option or the setting at fault.
func refusalOf(answer answer) error {
	problem := answer.problem()
	switch {
	case answer.status == http.StatusBadRequest && len(problem.Errors) > 0:
		var faults []string
		for _, one := range problem.Errors {
			option := optionOfParameter[one.Parameter]
			if option == "" {
				option = "--" + one.Parameter
			}
			faults = append(faults, option+" "+one.Detail)
		}
		return fmt.Errorf("%s", strings.Join(faults, "; "))
	case answer.status == http.StatusUnauthorized:
		return fmt.Errorf("RUNLEDGER_READ_TOKEN is not a token of this console")
	case answer.status == http.StatusForbidden:
		return fmt.Errorf("RUNLEDGER_READ_TOKEN must be a read token")
	case answer.status == http.StatusMovedPermanently:
		return fmt.Errorf("RUNLEDGER_CONSOLE_URL leads to %s", answer.location)
	case answer.status == http.StatusNotFound && problem.Detail == "":
		return fmt.Errorf("RUNLEDGER_CONSOLE_URL is not the address of a console")
	}
	return fmt.Errorf("the console answers %d: %s", answer.status, problem.Detail)
}

// Pause before the stream is reopened.
const reconnectPause = time.Second

// `runledger tail`: prints events as they are stored, until a signal. It resumes after an
// interruption.
func runTail(args []string) (int, error) {
	options, _, err := parseOptions(args, optionSpec{
		texts: []string{"automation", "kind", "console", "token-file", "ca-file"},
		flags: []string{"json"},
	}, "")
	if err != nil {
		return 0, err
	}
	// With a wrong filter it would wait forever.
	kinds := []string{"START", "EVENT", "WARNING", "ERROR", "END"}
	if kind, given := options["kind"]; given && !slices.Contains(kinds, kind) {
		return 0, usagef("--kind must be one of %s", strings.Join(kinds, ", "))
	}
	caller, err := connectToConsole(options)
	if err != nil {
		return 0, err
	}
	automation, err := automationOf(caller, options["automation"])
	if err != nil {
		return 0, err
	}
	stream := &follower{caller: caller, automation: automation, kind: options["kind"], asJSON: options["json"] != ""}
	for {
		before := stream.last
		final, err := stream.follow()
		if final {
			return 0, err
		}
		if err != nil && !stream.hasStarted {
			return 0, fmt.Errorf("%s", reasonOf(err, consolePeer))
		}
		if err != nil || before == stream.last {
			time.Sleep(reconnectPause)
		}
	}
}

// Returns the id of the automation with this id or name, or an error if that is ambiguous or
// unknown.
func automationOf(caller *caller, given string) (string, error) {
	if given == "" || uuidForm.MatchString(given) {
		return given, nil
	}
	page, err := readPage(caller, "/v1/automations/", url.Values{"automation": {given}, "limit": {"1"}})
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	var found eventItem
	err = json.Unmarshal(page.Items[0], &found)
	return found.Automation, err
}

type follower struct {
	caller           *caller
	automation, kind string
	asJSON           bool
	last             string
	hasStarted       bool
}

// Follows the stream until it breaks. An error is final if a retry cannot help.
func (f *follower) follow() (final bool, err error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if f.last != "" {
		header.Set("Last-Event-Id", f.last)
	}
	response, err := f.caller.open(context.Background(), http.MethodGet, "/v1/stream/", header, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	status := response.StatusCode
	// A console that is starting or busy answers later.
	if status == http.StatusTooManyRequests || status >= 500 {
		return false, fmt.Errorf("the console answers %d", status)
	}
	if status != http.StatusOK {
		text := new(bytes.Buffer)
		_, _ = text.ReadFrom(response.Body)
		return true, refusalOf(answer{status, response.Header.Get("Location"), text.Bytes()})
	}
	f.hasStarted = true
	lines := bufio.NewReaderSize(response.Body, 64*1024)
	event, data := "", ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false, nil
		}
		field, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			event = value
		case "data":
			data = value
		case "id":
			f.last = value
		case "":
			f.take(event, data)
			event, data = "", ""
		}
	}
}

func (f *follower) take(event, data string) {
	switch event {
	case "event":
		var item eventItem
		if json.Unmarshal([]byte(data), &item) == nil && f.isWanted(item) {
			printItem(json.RawMessage(data), f.asJSON, eventText)
		}
	case "omitted":
		say("events were left out: too many at once")
	}
}

func (f *follower) isWanted(item eventItem) bool {
	return (f.automation == "" || strings.EqualFold(f.automation, item.Automation)) &&
		(f.kind == "" || f.kind == item.Kind)
}
