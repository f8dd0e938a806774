package main

import (
	"crypto/rand"
	"fmt"
	"unicode/utf16"
)

func utf16Of(text string) []uint16 { return utf16.Encode([]rune(text)) }

// A random UUID (RFC 9562, version 4).
func newUUID() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:])
	bytes[6] = bytes[6]&0x0f | 0x40
	bytes[8] = bytes[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

func itoa(number int) string { return fmt.Sprint(number) }
