package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode"
)

// An event as the read API returns it.
type eventItem struct {
	Automation  string  `json:"automation"`
	Name        *string `json:"automation_name"`
	ExecutionID string  `json:"execution_id"`
	Kind        string  `json:"type_of_event"`
	Description string  `json:"description"`
	ErrorID     string  `json:"error_id"`
	ErrorDetail string  `json:"error_description_detail"`
	CreatedAt   string  `json:"created_at"`
	OccurredAt  *string `json:"occurred_at"`
}

// An execution as the read API returns it.
type executionItem struct {
	Automation   string   `json:"automation"`
	Name         *string  `json:"automation_name"`
	ExecutionID  string   `json:"execution_id"`
	State        string   `json:"state"`
	FirstEventAt string   `json:"first_event_at"`
	DurationMs   *float64 `json:"duration_ms"`
	Anomalies    []string `json:"anomalies"`
}

const (
	dim, bold, cyan, yellow, red, green = "2", "1", "36", "33", "31", "32"
)

var styleOf = map[string]string{
	"START": cyan, "WARNING": yellow, "ERROR": red, "END": green, "running": cyan, "failed": red, "succeeded": green,
}

// One line for an event, followed by the lines of its error.
func eventText(item json.RawMessage) string {
	var event eventItem
	_ = json.Unmarshal(item, &event)
	at := event.CreatedAt
	if event.OccurredAt != nil {
		at = *event.OccurredAt
	}
	parts := []string{
		styled(dim, at), styled(styleOf[event.Kind], fmt.Sprintf("%-7s", event.Kind)),
		nameOr(event.Name, event.Automation), clean(event.ExecutionID),
	}
	if event.ErrorID != "" {
		parts = append(parts, styled(bold, clean(event.ErrorID)))
	}
	text := strings.TrimRight(strings.Join(append(parts, clean(event.Description)), "  "), " ")
	if event.ErrorDetail == "" {
		return text
	}
	for _, line := range strings.Split(event.ErrorDetail, "\n") {
		text += "\n" + styled(dim, "    "+clean(line))
	}
	return text
}

// One line for an execution.
func executionText(item json.RawMessage) string {
	var run executionItem
	_ = json.Unmarshal(item, &run)
	duration := "-"
	if run.DurationMs != nil {
		duration = fmt.Sprintf("%.1f s", *run.DurationMs/1_000)
	}
	parts := []string{
		styled(dim, run.FirstEventAt), styled(styleOf[run.State], fmt.Sprintf("%-9s", run.State)),
		fmt.Sprintf("%9s", duration), nameOr(run.Name, run.Automation), clean(run.ExecutionID),
	}
	for _, anomaly := range run.Anomalies {
		parts = append(parts, styled(yellow, anomaly))
	}
	return strings.Join(parts, "  ")
}

func nameOr(name *string, id string) string {
	if name == nil || *name == "" {
		return id
	}
	return clean(*name)
}

// Colours on a terminal only; NO_COLOR and FORCE_COLOR decide otherwise.
func styled(style, text string) string {
	if style == "" || !hasColours() {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func hasColours() bool {
	if force := os.Getenv("FORCE_COLOR"); force != "" && force != "0" {
		return true
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(1)
}

// Cleans a text: a producer's text must not move the cursor or add lines.
func clean(text string) string {
	return strings.Map(func(letter rune) rune {
		isBidi := letter == 0x61c || letter >= 0x200e && letter <= 0x200f || letter >= 0x202a && letter <= 0x202e || letter >= 0x2066 && letter <= 0x2069
		if unicode.IsControl(letter) || isBidi || letter == 0x2028 || letter == 0x2029 {
			return ' '
		}
		return letter
	}, terminalCodes.ReplaceAllString(text, ""))
}
