#!/usr/bin/env bash
# Builds the images of the node's tests, without an image registry, into docker archives:
#   build.sh CACHE BIN
# The image of the Dockerfile, on a base from Debian's packages and the Node that runs the tests;
# the bundled servers from Debian's packages; the programs of BIN, each alone. All but the first are
# built once.
set -euo pipefail
cache=$1 bin=$2
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$cache/archives
mkdir -p "$out"
. "$here/base.sh"

value() { (cd "$repository/charts/runledger" && "$NODE" -e "
  const { parse } = require('$repository/node_modules/yaml');
  const values = parse(require('node:fs').readFileSync('values.yaml', 'utf8'));
  console.log('$1'.split('.').reduce((at, key) => at[key], values));"); }

# NAME PROGRAM: an image of one static program.
program() {
  still "$1" "$(sha256sum < "$bin/$2")" && return
  local container
  container=$(buildah from scratch)
  buildah add --quiet --chmod 0755 "$container" "$bin/$2" "/$2" > /dev/null
  buildah config --entrypoint "[\"/$2\"]" --user 65534:65534 "$container"
  buildah commit --quiet --rm "$container" "$1" > /dev/null
  done_with "$1"
}

# NAME: into the archive of that name, if it is not there under this tag.
archive() {
  local file of
  file=$out/$(basename "${1%:*}").tar
  of="$1 $(buildah images --quiet --no-trunc "$1")"
  [ -e "$file.of" ] && [ "$(cat "$file.of")" = "$of" ] && return
  rm -f "$file"
  buildah push --quiet "$1" "docker-archive:$file:$1"
  echo "$of" > "$file.of"
}

. "$repository/deploy/release/npm-access.sh" "$work"
# NAME TARGET FILES: an image of the Dockerfile, made of those files, into its archive. Layers that
# did not change come from the build before.
dockerfile() {
  local sources
  sources=$(cd "$repository" && find Dockerfile LICENSE $3 -type f | sort | xargs sha256sum)
  made "$1" "$sources" || {
    buildah bud --quiet --pull-never --network host --isolation chroot --layers "${access[@]}" --build-arg "NODE_IMAGE=$base" $2 --tag "$1" "$repository" > /dev/null
    done_with "$1"
  }
  archive "$1"
}
own=$(value image.repository):$(sed -n 's/^appVersion: *//p' "$repository/charts/runledger/Chart.yaml" | tr -d "\"'")
dockerfile "$own" '' 'package.json package-lock.json .npmrc internal cmd'
# The command `runledger`, under its name in the example.
command=$(sed -n 's/.*image: \(.*\/exec:.*\)/\1/p' "$repository/deploy/examples/cronjob.yaml")
make --no-print-directory --directory "$repository" ".cache/runledger/linux-$(dpkg --print-architecture)"
dockerfile "$command" '--target exec' "LICENSE .cache/runledger/linux-$(dpkg --print-architecture)"

valkey=$(value redis.image.repository):$(value redis.image.tag)
debian "$valkey" trixie valkey-server,valkey-tools \
  'for tool in server cli; do ln -s valkey-$tool $1/usr/bin/redis-$tool; done' --workingdir /data
archive "$valkey"
echo "$valkey" > "$out/shell-image"

postgres=$(value postgresql.image.repository):$(value postgresql.image.tag)
debian "$postgres" trixie postgresql-17 \
  "cp $here/postgres-entrypoint.sh \$1/usr/local/bin/; ln -s /usr/lib/postgresql/17/bin/pg_isready \$1/usr/local/bin/; sed -i 's/^postgres:x:[0-9]*:[0-9]*/postgres:x:999:999/' \$1/etc/passwd; rm \$1/usr/lib/*/libLLVM* \$1/usr/lib/postgresql/17/lib/llvmjit*" \
  --entrypoint '["postgres-entrypoint.sh"]' --env PGDATA=/var/lib/postgresql/data \
  --stop-signal SIGINT
archive "$postgres"

for name in pause coredns traefik; do
  program "localhost/$name:1" "$name"
  archive "localhost/$name:1"
done
