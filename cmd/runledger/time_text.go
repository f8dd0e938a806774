package main

import (
	"regexp"
	"strconv"
	"time"
)

var timeAgo = regexp.MustCompile(`^(\d{1,6})([smhdw])$`)

// In seconds, because a time.Duration ends after 292 years.
var unitOfTime = map[string]int64{"s": 1, "m": 60, "h": 3_600, "d": 24 * 3_600, "w": 7 * 24 * 3_600}

// Converts `now`, `today`, `yesterday`, a date in the local time zone, or a time ago such as 90m
// for the read API. Any other text stays as it is, for the console to accept or refuse.
func timeText(text string, now time.Time) string {
	at, isKnown := relativeTime(text, now)
	if !isKnown {
		return text
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

func relativeTime(text string, now time.Time) (time.Time, bool) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.Local)
	switch text {
	case "now":
		return now, true
	case "today":
		return today, true
	case "yesterday":
		return today.AddDate(0, 0, -1), true
	}
	if parts := timeAgo.FindStringSubmatch(text); parts != nil {
		count, _ := strconv.ParseInt(parts[1], 10, 64)
		at := time.UnixMilli(now.UnixMilli() - 1_000*count*unitOfTime[parts[2]])
		return at, at.Year() > 0
	}
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	return day, err == nil && day.Year() > 0
}
