#!/bin/sh
# Reports a shell script without any other program than curl: START, then END, or ERROR and END.
#
#   RUNLEDGER_URL=https://… RUNLEDGER_TOKEN=… AUTOMATION=<uuid> trap.sh
set -eu
execution=$(date -u +%Y-%m-%dT%H:%M:%SZ)-$$

report() {
  printf 'header = "token: %s"\n' "$RUNLEDGER_TOKEN" |
    curl -sS --config - --max-time 10 --retry 3 --retry-connrefused --output /dev/null \
      ${RUNLEDGER_CA_FILE:+--cacert "$RUNLEDGER_CA_FILE"} \
      -H 'Content-Type: application/json' -H "Idempotency-Key: $AUTOMATION-$execution-$1" \
      -d "{\"automation_id\":\"$AUTOMATION\",\"execution_id\":\"$execution\",\"event\":\"$1\",\"error_id\":\"${2:-}\"}" \
      "$RUNLEDGER_URL/v1/register/" || true
}

finish() {
  code=$?
  [ "$code" -eq 0 ] || report ERROR "$code"
  report END
}

report START
trap finish EXIT
# Not every shell runs that one when a signal ends it.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The work.
echo "Backing up"
