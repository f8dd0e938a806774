#!/usr/bin/env bash
# Runs commands at once: most tests wait, so together they take little longer than the longest.
# Shows what the first prints, then what each other has printed. Fails if one of them fails.
# They may share notes in $AT_ONCE_FOLDER.
#   at-once.sh COMMAND...
set -uo pipefail
logs=$(mktemp -d)
export AT_ONCE_FOLDER=$logs
trap 'rm -rf "$logs"' EXIT
first=$1
shift
others=()
for command in "$@"; do
  bash -c "$command" > "$logs/${#others[@]}" 2>&1 &
  others+=($!)
done
# The shell makes a command in the background ignore the terminal's signal.
trap 'kill -TERM "${others[@]}" 2> /dev/null' INT TERM
bash -c "$first"
status=$?
for index in "${!others[@]}"; do
  wait "${others[index]}" || status=$?
  cat "$logs/$index"
done
exit "$status"
