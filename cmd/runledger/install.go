package main

import (
	"io"
	"os"
	"path/filepath"
)

// `runledger install FOLDER`: copies this program into a folder, such as a volume shared with a
// job. A copy that is running there keeps the old file.
func runInstall(args []string) (int, error) {
	_, words, err := parseOptions(args, optionSpec{}, positionalAllowed)
	if err != nil {
		return 0, err
	}
	if len(words) != 1 {
		return 0, usagef("give one folder")
	}
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(words[0], 0o755); err != nil {
		return 0, err
	}
	return 0, installAs(filepath.Join(words[0], "runledger"+filepath.Ext(program)), program)
}

func installAs(path, program string) error {
	source, err := os.Open(program)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	copied, err := os.CreateTemp(filepath.Dir(path), ".runledger-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, source)
	if closing := copied.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(copied.Name(), 0o755)
	}
	if err == nil {
		err = os.Rename(copied.Name(), path)
	}
	if err != nil {
		_ = os.Remove(copied.Name())
	}
	return err
}
