package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// `runledger doctor`: says what is set, what answers, and how far the clocks differ. Exit code 1 if
// something needs attention.
func runDoctor(args []string) (int, error) {
	options, _, err := parseOptions(args, optionSpec{texts: []string{"spool", "url", "token-file", "ca-file", "console"}}, "")
	if err != nil {
		return 0, err
	}
	settings := readSettings(options, map[string]string{
		"url": "RUNLEDGER_URL", "token-file": "RUNLEDGER_TOKEN_FILE", "ca-file": "RUNLEDGER_CA_FILE",
		"spool": "RUNLEDGER_SPOOL", "console": "RUNLEDGER_CONSOLE_URL",
	})
	fmt.Printf("version   %s\n", version)
	isWell := checkIngest(settings)
	isWell = checkSpool(settings) && isWell
	if settings.found["RUNLEDGER_CONSOLE_URL"] != "" {
		isWell = checkConsole(settings) && isWell
	}
	if isWell {
		return 0, nil
	}
	return 1, nil
}

func checkIngest(settings settings) bool {
	target, err := settings.ingest()
	if err != nil {
		return finding("ingest", false, err.Error())
	}
	caller, err := newCaller(target, answerTimeout)
	if err != nil {
		return finding("ingest", false, err.Error())
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	before := time.Now()
	answer, err := caller.get(ctx, "/v1/ping/")
	took := time.Since(before)
	if err != nil {
		return finding("ingest", false, reasonOf(err, target.url.String()))
	}
	var pong struct {
		Organization string    `json:"organization"`
		Scope        string    `json:"scope"`
		Time         time.Time `json:"time"`
	}
	if answer.status != http.StatusOK || json.Unmarshal(answer.body, &pong) != nil {
		return finding("ingest", false, fmt.Sprintf("%s answers %d: %s", target.url, answer.status, answer.problem().said()))
	}
	finding("ingest", true, fmt.Sprintf("%s answers within %d ms", target.url, took.Milliseconds()))
	canWrite := finding("token", pong.Scope == "write", fmt.Sprintf("of organization %s, scope %s", pong.Organization, pong.Scope))
	ahead := before.Add(took / 2).Sub(pong.Time)
	// Ingest refuses times more than five minutes in the future.
	return finding("clock", ahead.Abs() < 5*time.Minute, fmt.Sprintf("%.1f s ahead of Runledger's", ahead.Seconds())) && canWrite
}

func checkSpool(settings settings) bool {
	folder, maxBytes, maxEvents, err := settings.spool()
	if err != nil {
		return finding("spool", false, err.Error())
	}
	spool := &spool{folder: filepath.Join(folder, settings.receiverFolder()), maxBytes: maxBytes, maxEvents: maxEvents}
	if err := requirePrivate(spool.folder); err != nil && !errors.Is(err, os.ErrNotExist) {
		return finding("spool", false, err.Error())
	}
	if err := spool.prepare(); err != nil {
		return finding("spool", false, err.Error())
	}
	waiting, refused := len(spool.waiting()), spool.refused()
	return finding("spool", refused == 0, fmt.Sprintf("%s: %d waiting, %d refused", spool.folder, waiting, refused))
}

func checkConsole(settings settings) bool {
	target, err := settings.console()
	if err != nil {
		return finding("console", false, err.Error())
	}
	caller, err := newCaller(target, answerTimeout)
	if err != nil {
		return finding("console", false, err.Error())
	}
	answer, err := caller.get(context.Background(), "/v1/executions/?limit=1")
	if err != nil {
		return finding("console", false, reasonOf(err, target.url.String()))
	}
	if answer.status != http.StatusOK {
		return finding("console", false, refusalOf(answer).Error())
	}
	return finding("console", true, target.url.String()+" answers")
}

// Prints a line and returns isWell.
func finding(what string, isWell bool, text string) bool {
	mark := "ok"
	if !isWell {
		mark = "WRONG"
	}
	fmt.Printf("%-9s %-5s  %s\n", what, mark, text)
	return isWell
}
