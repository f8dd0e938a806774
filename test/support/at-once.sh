#!/usr/bin/env bash
# Runs two commands at once: most tests wait, so together they take little longer than one.
# Shows what the first prints, then what the second has printed. Fails if one of them fails.
#   at-once.sh COMMAND COMMAND
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bash -c "$2" > "$log" 2>&1 &
second=$!
# The shell makes a command in the background ignore the terminal's signal.
trap 'kill -TERM "$second" 2> /dev/null' INT TERM
bash -c "$1"
status=$?
wait "$second" || status=$?
cat "$log"
exit "$status"
