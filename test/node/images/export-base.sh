#!/usr/bin/env bash
# Builds the base of the Dockerfile from Debian's packages, where no image registry is within reach,
# and writes it into a docker archive for each architecture:
#   export-base.sh FOLDER
# Then `BASE=FOLDER make release VERSION=…` builds on it. Needs qemu-user-static, which runs the
# programs of the other architecture.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../../.." && pwd)
"$repository/deploy/install.sh" arch-test buildah mmdebstrap >&2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/runledger/images
NODE=$(readlink -f "$repository/node_modules/.bin/node")
mkdir -p "$cache"
exec 9> "$cache/../node.lock"
flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
own=$(dpkg --print-architecture)
mkdir -p "$1"
for name in amd64 arm64; do
  architecture=$name
  [ "$name" != "$own" ] || architecture=
  . "$here/base.sh"
  rm -f "$1/$name.tar"
  buildah push --quiet "$base" "docker-archive:$1/$name.tar:$base"
done
