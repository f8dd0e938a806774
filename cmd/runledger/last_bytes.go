package main

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// How much of the end of the output is recorded. Ingest refuses a body of more than 256 KiB.
const (
	mostLines      = 20
	mostCharacters = 100_000 // UTF-16 units
	mostJSON       = 200_000 // bytes
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
	return endOf(strings.Join(lines, "\n"))
}

// The longest end of a text that one event can hold.
func endOf(text string) string {
	characters, size := 0, 0
	for at := len(text); at > 0; {
		char, width := utf8.DecodeLastRuneInString(text[:at])
		characters += utf16.RuneLen(char)
		size += sizeInJSON(char)
		if characters > mostCharacters || size > mostJSON {
			return text[at:]
		}
		at -= width
	}
	return text
}

// An upper bound of the bytes that jsonOf writes for a character.
func sizeInJSON(char rune) int {
	switch {
	case char == '\n' || char == '\r' || char == '\t' || char == '"' || char == '\\':
		return 2
	case char < ' ' || char == '\u2028' || char == '\u2029':
		return 6
	}
	return utf8.RuneLen(char)
}

func cleanText(bytes []byte) string {
	// The conversion to runes turns each invalid byte into U+FFFD.
	text := string([]rune(string(bytes)))
	return strings.ReplaceAll(terminalCodes.ReplaceAllString(text, ""), "\x00", "")
}
