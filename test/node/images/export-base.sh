#!/usr/bin/env bash
# Builds the base of the Dockerfile from Debian's packages, where no image registry is within reach,
# and writes it into a docker archive:
#   export-base.sh FILE
# Then `BASE=docker-archive:FILE ARCHITECTURES=amd64 make release VERSION=…` builds on it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../../.." && pwd)
"$repository/deploy/install.sh" buildah mmdebstrap >&2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/runledger/images
NODE=$(readlink -f "$repository/node_modules/.bin/node")
mkdir -p "$cache"
exec 9> "$cache/../node.lock"
flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/base.sh"
rm -f "$1"
buildah push --quiet "$base" "docker-archive:$1:$base"
