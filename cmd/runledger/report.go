package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A run of a command.
type subject struct {
	automation, execution, description string
	startedAt                          time.Time
}

// An event that must reach Runledger once: each attempt uses the same key and body.
type outgoing struct {
	Key  string `json:"key"`
	Body string `json:"body"`
	At   int64  `json:"at"` // ms since the Unix epoch
}

// The body of an event, with its fields in the order in which they are sent.
type eventBody struct {
	AutomationID     string  `json:"automation_id"`
	ExecutionID      string  `json:"execution_id"`
	Event            string  `json:"event"`
	Description      string  `json:"description"`
	ErrorID          *string `json:"error_id,omitempty"`
	ErrorDescription *string `json:"error_description,omitempty"`
	OccurredAt       string  `json:"occurred_at,omitempty"`
}

func newEvent(body eventBody, at time.Time) outgoing {
	body.OccurredAt = at.UTC().Format("2006-01-02T15:04:05.000Z")
	return outgoing{newUUID(), jsonOf(body), at.UnixMilli()}
}

func jsonOf(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n")
}

// Reports one run while it runs.
type report struct {
	run      subject
	outbox   *outbox
	timeout  time.Duration
	problems *notes
	warnings *notes
}

// The result of a report. Problems are shown only with --verbose; warnings, which a person has to
// fix, are always shown.
type reported struct{ problems, warnings []string }

// Reports START. Never fails.
func startReport(run subject, settings settings) *report {
	r := &report{run: run, problems: &notes{}, warnings: &notes{}}
	timeout, err := settings.timeout()
	if err != nil {
		r.warnings.add(err.Error())
		timeout = 2 * time.Second
	}
	r.timeout = timeout
	delivery := newDelivery(settings, func(problem string, isSetting bool) {
		if isSetting {
			r.warnings.add("cannot report this run: " + problem)
		} else {
			r.problems.add(problem)
		}
	})
	r.outbox = newOutbox(openSpool(settings), delivery, r.noteUnspooled)
	r.outbox.add(newEvent(r.body("START", run.description), run.startedAt))
	return r
}

// A full spool or a disk that hangs may be temporary. Anything else needs a person.
func (r *report) noteUnspooled(err error) {
	var temporary *spoolUnavailable
	if errors.As(err, &temporary) {
		r.problems.add("cannot spool an event: " + err.Error())
	} else {
		r.warnings.add("cannot spool events: " + err.Error())
	}
}

// Reports the end. Returns once everything is delivered or spooled, or its time is up.
func (r *report) end(end ended, tail string) reported {
	now := time.Now()
	said, id := fmt.Sprintf("exit code %d", end.code), fmt.Sprint(end.code)
	if end.signal != "" {
		said, id = "signal "+end.signal, end.signal
	}
	description := fmt.Sprintf("Ended with %s after %.1f s", said, now.Sub(r.run.startedAt).Seconds())
	if end.signal != "" || end.code != 0 {
		body := r.body("ERROR", description)
		body.ErrorID, body.ErrorDescription = &id, &tail
		r.outbox.add(newEvent(body, now))
	}
	r.outbox.add(newEvent(r.body("END", description), now))
	r.outbox.settle(r.timeout)
	return reported{r.problems.all(), r.warnings.all()}
}

func (r *report) body(kind, description string) eventBody {
	return eventBody{AutomationID: r.run.automation, ExecutionID: r.run.execution, Event: kind, Description: description}
}

// The spool for the receiver in the settings.
func openSpool(settings settings) *spool {
	folder, maxBytes, maxEvents, err := settings.spool()
	if err != nil {
		return &spool{unusable: err}
	}
	return &spool{folder: filepath.Join(folder, settings.receiverFolder()), maxBytes: maxBytes, maxEvents: maxEvents}
}

// `runledger event KIND [TEXT]`: adds an event to a run, inside its command or by its ids.
func runEvent(args []string) (int, error) {
	options, words, err := parseOptions(args, optionSpec{
		texts: []string{"automation", "execution", "id", "detail", "spool", "url", "token-file", "ca-file", "timeout-ms"},
		flags: []string{"verbose"},
	}, positionalAllowed)
	if err != nil {
		return 0, err
	}
	body, err := bodyOfEvent(options, words)
	if err != nil {
		return 0, err
	}
	settings := readSettings(options, map[string]string{
		"url": "RUNLEDGER_URL", "token-file": "RUNLEDGER_TOKEN_FILE", "ca-file": "RUNLEDGER_CA_FILE",
		"spool": "RUNLEDGER_SPOOL", "timeout-ms": "RUNLEDGER_TIMEOUT_MS",
	})
	timeout, err := settings.timeout()
	if err != nil {
		return 0, err
	}
	problems, unspooled := &notes{}, &notes{}
	delivery := newDelivery(settings, func(problem string, _ bool) { problems.add(problem) })
	outbox := newOutbox(openSpool(settings), delivery, func(err error) { unspooled.add("cannot spool the event: " + err.Error()) })
	outbox.add(newEvent(body, time.Now()))
	outbox.settle(timeout)
	// An event in the spool is sent with this run or with the next one.
	if state := outbox.stateOfFirst(); state == recorded || state == spooled {
		if options["verbose"] != "" {
			for _, problem := range problems.all() {
				say(problem)
			}
		}
		return 0, nil
	}
	for _, problem := range append(problems.all(), unspooled.all()...) {
		say(problem)
	}
	return 1, nil
}

var kindOfWord = map[string]string{
	"start": "START", "event": "EVENT", "warning": "WARNING", "error": "ERROR", "end": "END",
}

func bodyOfEvent(options values, words []string) (eventBody, error) {
	kind := kindOfWord[strings.ToLower(first(words))]
	body := eventBody{AutomationID: options["automation"], ExecutionID: options["execution"], Event: kind}
	if body.AutomationID == "" {
		body.AutomationID = os.Getenv("RUNLEDGER_AUTOMATION_ID")
	}
	if body.ExecutionID == "" {
		body.ExecutionID = os.Getenv("RUNLEDGER_EXECUTION_ID")
	}
	switch {
	case kind == "":
		return body, usagef("the first argument must be start, event, warning, error or end")
	case len(words) > 2:
		return body, usagef("unexpected argument %q: quote a text of several words", words[2])
	case body.AutomationID == "":
		return body, usagef("--automation is required outside of runledger exec (RUNLEDGER_AUTOMATION_ID)")
	case !uuidForm.MatchString(body.AutomationID):
		return body, usagef("--automation must be a UUID")
	case body.ExecutionID == "":
		return body, usagef("--execution is required outside of runledger exec (RUNLEDGER_EXECUTION_ID)")
	}
	if err := requireExecution(body.ExecutionID); err != nil {
		return body, err
	}
	if len(words) == 2 {
		body.Description = words[1]
	}
	if id, given := options["id"]; given {
		body.ErrorID = &id
	}
	if detail, given := options["detail"]; given {
		body.ErrorDescription = &detail
	}
	if kind != "ERROR" && (body.ErrorID != nil || body.ErrorDescription != nil) {
		return body, usagef("--id and --detail are for an error")
	}
	return body, nil
}
