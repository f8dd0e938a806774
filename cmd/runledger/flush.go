package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// `runledger flush`: sends now what waits in the spool. Exit code 1 if something still waits or was
// refused.
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
	var faults []string
	for _, receiver := range receivers {
		spool := &spool{folder: filepath.Join(folder, receiver), maxBytes: maxBytes, maxEvents: maxEvents}
		if err := requirePrivate(spool.folder); err != nil && !os.IsNotExist(err) {
			problems.add(err.Error())
		}
		result := sendBacklog(context.Background(), spool, delivery, spool.waiting(), func() bool { return false })
		for _, one := range result.faults {
			faults = append(faults, describeRefusal(filepath.Join(spool.folder, refusedFolder, one.name), one.errors))
		}
		sent, waiting, refused = sent+result.sent, waiting+len(spool.waiting()), refused+spool.refused()
	}
	fmt.Printf("%d sent, %d waiting, %d refused in %s\n", sent, waiting, refused, folder)
	for _, problem := range append(problems.all(), faults...) {
		say(problem)
	}
	if waiting > 0 || len(faults) > 0 || len(problems.all()) > 0 {
		return 1, nil
	}
	return 0, nil
}

func describeRefusal(path string, errors []fieldError) string {
	var parts []string
	for _, one := range errors {
		parts = append(parts, strings.TrimSpace(one.Pointer+" "+one.Detail))
	}
	return fmt.Sprintf("refused: %s, kept in %s", strings.Join(parts, "; "), path)
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
