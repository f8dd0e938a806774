// Package scenario is what the programs for each generator share.
package scenario

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

// Found is what a program has found with its client.
type Found map[string]any

// Report prints it for the test.
func (found Found) Report() {
	Must(0, json.NewEncoder(os.Stdout).Encode(found))
}

// Must gives the value, or ends the program.
func Must[T any](value T, err error) T {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
	return value
}

// UntilThere calls until the answer is there: an event can be read about a second after its 201.
func UntilThere[T any](call func() *T) T {
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if answer := call(); answer != nil {
			return *answer
		}
	}
	panic("the execution is not in the record")
}

// Each gives one text for each item.
func Each[T any, R ~string](items []T, text func(T) R) []string {
	texts := []string{}
	for _, item := range items {
		texts = append(texts, string(text(item)))
	}
	return texts
}

// Lines counts the lines of an export.
func Lines(text []byte) int {
	return strings.Count(string(text), "\n")
}

// FirstLine is the first line of a signed text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Unexpected ends the program with an answer that is none of success.
func Unexpected(answer any) {
	panic(fmt.Sprintf("%T: %+v", answer, answer))
}
