package main

import (
	_ "embed"
	"strings"
)

// The help of all commands: a paragraph for each, which begins with its name.
//
//go:embed help.txt
var help string

// The help of a command; of all commands for any other name.
func helpOf(name string) string {
	for _, paragraph := range strings.Split(help, "\n\n") {
		if strings.HasPrefix(paragraph, "  runledger "+name+" ") || strings.HasPrefix(paragraph, "  runledger "+name+"\n") {
			text := strings.TrimSuffix(strings.TrimPrefix(paragraph, "  "), "\n") + "\n"
			return strings.ReplaceAll(text, "\n  ", "\n")
		}
	}
	return help
}
