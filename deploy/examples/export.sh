#!/bin/sh
# Exports the events before a time into a file, as NDJSON. After a cut, also of this script itself,
# it continues where the file ends.
#
#   TOKEN=rlr_… export.sh https://record.example.com 2026-02-01T00:00:00Z events.ndjson
set -eu
console=$1 to=$2 file=$3
# Only you may read the events.
umask 077
touch "$file"

while :; do
  # A cut leaves an incomplete last line.
  [ -z "$(tail -c 1 "$file")" ] || sed -i '$d' "$file"
  after=$(tail -n 1 "$file" | sed -E 's/^\{"id":"([^"]+)".*"created_at":"([^"]+)"\}$/\&after=\2,\1/')
  status=0
  printf 'header = "token: %s"\n' "$TOKEN" |
    curl -fsS --config - "$console/v1/export/events/?to=$to$after" >>"$file" || status=$?
  [ "$status" -ne 0 ] || exit 0
  # 22 is an answer with 4xx or 5xx, such as for a wrong token.
  [ "$status" -ne 22 ] || exit 22
  sleep 1
done
