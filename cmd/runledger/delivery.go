package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The result of an attempt.
type attempt int

const (
	failed   attempt = iota // try again later
	recorded                // Runledger has it
	refused                 // Runledger will never take it
	spooled                 // not sent; it waits in the spool
)

// How long Runledger may be silent before the attempt has failed.
const answerTimeout = 10 * time.Second

// Maximum length of an answer, in bytes.
const longestAnswer = 16 * 1024 * 1024

// Maximum age of an event that is retried without its time.
const tooOld = 80 * 24 * time.Hour

// Sends events to ingest, and notes why it failed.
type delivery struct {
	settings settings
	note     func(problem string, isSetting bool)
	mutex    sync.Mutex
	caller   *caller
}

func newDelivery(settings settings, note func(string, bool)) *delivery {
	return &delivery{settings: settings, note: note}
}

// Reads the settings until they are valid: a file may not exist yet.
func (d *delivery) connect() (*caller, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.caller != nil {
		return d.caller, nil
	}
	target, err := d.settings.ingest()
	if err == nil {
		d.caller, err = newCaller(target, answerTimeout)
	}
	return d.caller, err
}

// Makes one attempt. Returns the reason if the event is refused.
func (d *delivery) send(ctx context.Context, event outgoing) (attempt, string) {
	caller, err := d.connect()
	if err != nil {
		d.note(err.Error(), true)
		return failed, ""
	}
	body := event.Body
	answer, err := caller.post(ctx, "/v1/register/", event.Key, body)
	if err == nil && answer.status == http.StatusRequestEntityTooLarge {
		// Without its ERROR, a failed run would be recorded as succeeded.
		body = changed(body, func(event *eventBody) { event.ErrorDescription = nil })
		answer, err = caller.post(ctx, "/v1/register/", event.Key, body)
	}
	if err == nil && isTimeRefused(answer) && time.Since(time.UnixMilli(event.At)) < tooOld {
		// The clock of this machine is ahead: the time of acceptance is better than none.
		body = changed(body, func(event *eventBody) { event.OccurredAt = "" })
		answer, err = caller.post(ctx, "/v1/register/", event.Key, body)
	}
	if err != nil {
		d.note(reasonOf(err, "Runledger"), false)
		return failed, ""
	}
	if answer.status == http.StatusCreated {
		return recorded, ""
	}
	problem := answer.problem()
	said := fmt.Sprintf("Runledger answers %d: %s", answer.status, problem.said())
	d.note(said, false)
	switch answer.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return refused, cmp.Or(problem.faults(), said)
	}
	return failed, ""
}

// Makes one attempt for several events. Returns the keys of those that Runledger has recorded.
func (d *delivery) sendMany(ctx context.Context, events []outgoing) map[string]bool {
	done := map[string]bool{}
	caller, err := d.connect()
	if err != nil {
		return done
	}
	var bodies []string
	for _, event := range events {
		bodies = append(bodies, withKey(event.Body, event.Key))
	}
	// After a failure, each event is sent alone: that attempt says why.
	answer, err := caller.post(ctx, "/v1/register/bulk/?partial=true", "", "["+strings.Join(bodies, ",")+"]")
	if err != nil || answer.status != http.StatusCreated && answer.status != http.StatusMultiStatus {
		return done
	}
	var result struct {
		Failed []struct {
			Index int `json:"index"`
		} `json:"failed"`
	}
	if answer.status == http.StatusMultiStatus && json.Unmarshal(answer.body, &result) != nil {
		return done
	}
	for _, event := range events {
		done[event.Key] = true
	}
	for _, one := range result.Failed {
		if one.Index >= 0 && one.Index < len(events) {
			delete(done, events[one.Index].Key)
		}
	}
	return done
}

func withKey(body, key string) string {
	return strings.TrimSuffix(strings.TrimSpace(body), "}") + `,"idempotency_key":` + jsonOf(key) + "}"
}

func changed(body string, change func(*eventBody)) string {
	var event eventBody
	if json.Unmarshal([]byte(body), &event) != nil {
		return body
	}
	change(&event)
	return jsonOf(event)
}

func isTimeRefused(answer answer) bool {
	errors := answer.problem().Errors
	return answer.status == http.StatusBadRequest && len(errors) == 1 && errors[0].Pointer == "/occurred_at"
}

// Calls Runledger over kept-alive connections. It follows no redirect.
type caller struct {
	target target
	client *http.Client
}

type answer struct {
	status   int
	location string
	body     []byte
}

// A fault of a problem document (RFC 9457).
type fieldError struct {
	Pointer   string `json:"pointer"`
	Parameter string `json:"parameter"`
	Detail    string `json:"detail"`
}

type problem struct {
	Detail string       `json:"detail"`
	Errors []fieldError `json:"errors"`
}

func (p problem) said() string {
	if p.Detail == "" {
		return "no problem document"
	}
	return p.Detail
}

func (p problem) faults() string {
	var parts []string
	for _, one := range p.Errors {
		parts = append(parts, strings.TrimSpace(one.Pointer+" "+one.Detail))
	}
	return strings.Join(parts, "; ")
}

func (a answer) problem() problem {
	var found problem
	_ = json.Unmarshal(a.body, &found)
	return found
}

func newCaller(target target, silence time.Duration) (*caller, error) {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSHandshakeTimeout:   answerTimeout,
		ResponseHeaderTimeout: silence,
		IdleConnTimeout:       time.Minute,
		ForceAttemptHTTP2:     false,
		TLSNextProto:          map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	if target.ca != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(target.ca) {
			return nil, settingf("%s has no certificate (PEM)", described("RUNLEDGER_CA_FILE"))
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	refuseRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &caller{target, &http.Client{Transport: transport, CheckRedirect: refuseRedirect}}, nil
}

func (c *caller) post(ctx context.Context, path, key, body string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	header := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return c.send(ctx, http.MethodPost, path, header, []byte(body))
}

func (c *caller) get(ctx context.Context, path string) (answer, error) {
	return c.send(ctx, http.MethodGet, path, http.Header{}, nil)
}

func (c *caller) send(ctx context.Context, method, path string, header http.Header, body []byte) (answer, error) {
	response, err := c.open(ctx, method, path, header, body)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer+1))
	if len(text) > longestAnswer {
		return answer{}, errors.New("the answer is too long")
	}
	return answer{response.StatusCode, response.Header.Get("Location"), text}, err
}

// Returns the answer as soon as its headers have arrived.
func (c *caller) open(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	address := strings.TrimSuffix(c.target.url.String(), "/") + path
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	header.Set("token", c.target.token)
	header.Set("User-Agent", "runledger/"+version)
	request.Header = header
	return c.client.Do(request)
}

func (c *caller) close() { c.client.CloseIdleConnections() }

// Says why a request got no answer. `peer` names the server that should have answered.
func reasonOf(err error, peer string) string {
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return peer + " has a certificate that is not trusted: set --ca-file (RUNLEDGER_CA_FILE)"
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("%s does not answer: no answer within %d s", peer, int(answerTimeout.Seconds()))
	}
	return fmt.Sprintf("%s does not answer: %v", peer, err)
}
