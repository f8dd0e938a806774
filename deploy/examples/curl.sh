#!/bin/sh
# Reports one event with curl: curl.sh START, later curl.sh END, or curl.sh ERROR 3 before END.
#
#   RUNLEDGER_URL=https://… RUNLEDGER_TOKEN=… AUTOMATION=<uuid> EXECUTION=<run> curl.sh START
set -eu
printf 'header = "token: %s"\n' "$RUNLEDGER_TOKEN" |
  curl -sS --fail --config - --max-time 10 --retry 3 --retry-connrefused --output /dev/null \
    ${RUNLEDGER_CA_FILE:+--cacert "$RUNLEDGER_CA_FILE"} \
    -H 'Content-Type: application/json' -H "Idempotency-Key: $AUTOMATION-$EXECUTION-$1" \
    -d "{\"automation_id\":\"$AUTOMATION\",\"execution_id\":\"$EXECUTION\",\"event\":\"$1\",\"error_id\":\"${2:-}\"}" \
    "$RUNLEDGER_URL/v1/register/"
