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

// `runledger doctor`: says what is set, what answers, and by how much the clocks differ. Exit code
// 1 if something needs a person.
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
		return report1("ingest", false, err.Error())
	}
	caller, err := newCaller(target, answerTimeout)
	if err != nil {
		return report1("ingest", false, err.Error())
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	before := time.Now()
	answer, err := caller.get(ctx, "/v1/ping/")
	took := time.Since(before)
	if err != nil {
		return report1("ingest", false, reasonOf(err, target.url.String()))
	}
	var pong struct {
		Organization string    `json:"organization"`
		Scope        string    `json:"scope"`
		Time         time.Time `json:"time"`
	}
	if answer.status != http.StatusOK || json.Unmarshal(answer.body, &pong) != nil {
		return report1("ingest", false, fmt.Sprintf("%s answers %d: %s", target.url, answer.status, answer.problem().said()))
	}
	report1("ingest", true, fmt.Sprintf("%s answers within %d ms", target.url, took.Milliseconds()))
	canWrite := report1("token", pong.Scope != "read", fmt.Sprintf("of organization %s, scope %s", pong.Organization, pong.Scope))
	ahead := before.Add(took / 2).Sub(pong.Time)
	// Ingest refuses a time that is more than five minutes ahead.
	return report1("clock", ahead.Abs() < 5*time.Minute, fmt.Sprintf("%.1f s ahead of Runledger's", ahead.Seconds())) && canWrite
}

func checkSpool(settings settings) bool {
	folder, maxBytes, maxEvents, err := settings.spool()
	if err != nil {
		return report1("spool", false, err.Error())
	}
	spool := &spool{folder: filepath.Join(folder, settings.receiverFolder()), maxBytes: maxBytes, maxEvents: maxEvents}
	if err := requirePrivate(spool.folder); err != nil && !errors.Is(err, os.ErrNotExist) {
		return report1("spool", false, err.Error())
	}
	if err := spool.prepare(); err != nil {
		return report1("spool", false, err.Error())
	}
	waiting, refused := len(spool.waiting()), spool.refused()
	return report1("spool", refused == 0, fmt.Sprintf("%s: %d waiting, %d refused", spool.folder, waiting, refused))
}

func checkConsole(settings settings) bool {
	target, err := settings.console()
	if err != nil {
		return report1("console", false, err.Error())
	}
	caller, err := newCaller(target, answerTimeout)
	if err != nil {
		return report1("console", false, err.Error())
	}
	answer, err := caller.get(context.Background(), "/v1/executions/?limit=1")
	if err != nil {
		return report1("console", false, reasonOf(err, target.url.String()))
	}
	if answer.status != http.StatusOK {
		return report1("console", false, refusalOf(answer).Error())
	}
	return report1("console", true, target.url.String()+" answers")
}

// Prints a line, and returns whether it is well.
func report1(what string, isWell bool, text string) bool {
	mark := "ok"
	if !isWell {
		mark = "WRONG"
	}
	fmt.Printf("%-9s %-5s  %s\n", what, mark, text)
	return isWell
}
