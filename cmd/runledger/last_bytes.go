package main

import (
	"bytes"
	"regexp"
	"strings"
)

// How many of the last lines and characters of a command are recorded.
const (
	mostLines      = 20
	mostCharacters = 100_000
)

// Bytes kept of the end of the output: at most 100,000 characters fit.
const (
	sizeOfBlock = 64 * 1024
	keptBlocks  = 7
)

// The end of a stream, in blocks that are read into directly, without copies.
type lastBytes struct {
	blocks [][]byte // the last one is being filled
	isCut  bool
}

// Returns the buffer for the next read.
func (l *lastBytes) space() []byte {
	if len(l.blocks) == 0 || len(l.current()) == cap(l.current()) {
		l.addBlock()
	}
	current := l.current()
	return current[len(current):cap(current)]
}

// Call it after a read that filled `length` bytes of the space.
func (l *lastBytes) took(length int) {
	at := len(l.blocks) - 1
	l.blocks[at] = l.blocks[at][:len(l.blocks[at])+length]
}

func (l *lastBytes) current() []byte { return l.blocks[len(l.blocks)-1] }

func (l *lastBytes) addBlock() {
	if len(l.blocks) < keptBlocks {
		l.blocks = append(l.blocks, make([]byte, 0, sizeOfBlock))
		return
	}
	l.isCut = true
	oldest := l.blocks[0]
	copy(l.blocks, l.blocks[1:])
	l.blocks[keptBlocks-1] = oldest[:0]
}

// Sequences that move the cursor, colour or title (ECMA-48, and the strings that OSC begins).
var terminalCodes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)|\x1b[@-Z\\\\-_]|\x1b[ -/]+[0-~]")

// The last lines as text: only whole lines if there are several, without terminal codes and NULs.
func (l *lastBytes) lastLines() string {
	end := bytes.Join(l.blocks, nil)
	lines := strings.Split(strings.TrimRight(cleanText(end), " \t\r\n\v\f"), "\n")
	if l.isCut && len(lines) > 1 {
		lines = lines[1:]
	}
	if len(lines) > mostLines {
		lines = lines[len(lines)-mostLines:]
	}
	text := strings.Join(lines, "\n")
	if units := utf16Of(text); len(units) > mostCharacters {
		return textOf(units[len(units)-mostCharacters:])
	}
	return text
}

func cleanText(bytes []byte) string {
	// The conversion to runes turns each invalid byte into U+FFFD.
	text := string([]rune(string(bytes)))
	return strings.ReplaceAll(terminalCodes.ReplaceAllString(text, ""), "\x00", "")
}
