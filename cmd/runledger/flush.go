package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// `runledger flush`: sends now what waits in the spool. Exit code 1 if something still waits, or
// was refused since the last time.
func runFlush(args []string) (int, error) {
	options, _, err := parseOptions(args, optionSpec{
		texts: []string{"spool", "url", "token-file", "ca-file"},
		flags: []string{"all"},
	}, "")
	if err != nil {
		return 0, err
	}
	settings := readSettings(options, map[string]string{
		"url": "RUNLEDGER_URL", "token-file": "RUNLEDGER_TOKEN_FILE", "ca-file": "RUNLEDGER_CA_FILE", "spool": "RUNLEDGER_SPOOL",
	})
	if _, err := settings.ingest(); err != nil {
		return 0, err
	}
	folder, maxBytes, maxEvents, err := settings.spool()
	if err != nil {
		return 0, err
	}
	problems := &notes{}
	delivery := newDelivery(settings, func(problem string, _ bool) { problems.add(problem) })
	receivers := []string{settings.receiverFolder()}
	if options["all"] != "" {
		receivers = foldersIn(folder)
	}
	var sent, waiting, refused int
	var refusals []refusal
	for _, receiver := range receivers {
		spool := &spool{folder: filepath.Join(folder, receiver), maxBytes: maxBytes, maxEvents: maxEvents}
		if err := requirePrivate(spool.folder); err != nil && !os.IsNotExist(err) {
			problems.add(err.Error())
		}
		result := sendBacklog(context.Background(), spool, delivery, spool.waiting(), func() bool { return false })
		refusals = append(refusals, spool.untold()...)
		sent, waiting, refused = sent+result.sent, waiting+len(spool.waiting()), refused+spool.refused()
	}
	fmt.Printf("%d sent, %d waiting, %d refused in %s\n", sent, waiting, refused, folder)
	for _, problem := range problems.all() {
		say(problem)
	}
	for _, one := range refusals {
		say(fmt.Sprintf("refused: %s, kept in %s", one.reason, one.event))
		one.told()
	}
	if waiting > 0 || len(refusals) > 0 || len(problems.all()) > 0 {
		return 1, nil
	}
	return 0, nil
}

func foldersIn(folder string) []string {
	entries, _ := os.ReadDir(folder)
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}
