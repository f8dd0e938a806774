#!/usr/bin/env bash
# Packages the chart of a release, which names its image by the digest:
#   chart.sh CHART IMAGE DIGEST FILE
# CHART is a folder, and IMAGE such as ghcr.io/runledger/runledger:1.0.0. The same input gives the
# same bytes; SOURCE_DATE_EPOCH is the time of the files. Whoever signs with a key of their own sets
# SIGN_KEY to the public one, and SIGN_KEY_URL to where users find it: the chart names both.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$1" "$work/runledger"
rm -r "$work/runledger/ci" "$work/runledger/.helmignore"
if [ -n "${SIGN_KEY:-}" ]; then
  fingerprint=$(openssl pkey -pubin -in "$SIGN_KEY" -outform DER | sha256sum | cut -d' ' -f1)
  printf '  artifacthub.io/signKey: |\n    fingerprint: %s\n    url: %s\n' "$fingerprint" "${SIGN_KEY_URL:?}" >> "$work/runledger/Chart.yaml"
fi
echo "$2: $3" >> "$work/runledger/files/digests.yaml"
tar --sort=name --format=gnu --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w \
  -c -C "$work" runledger | gzip -n -9 > "$4"
