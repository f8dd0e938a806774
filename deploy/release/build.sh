#!/usr/bin/env bash
# Builds the files of a release from the commit that is checked out. One commit gives the same bytes
# in any folder, at any time:
#   build.sh VERSION FOLDER [PART…]
# Parts, in this order: command images chart sboms bundle sums. All of them unless some are named.
# IMAGES is a folder of images that were built before. ARCHITECTURES are those of Runledger's image,
# and BASE is a folder with a docker archive, such as arm64.tar, of the image below each: by default
# that is the one of the Dockerfile, pulled by its digest.
set -euo pipefail
version=$1 out=$(realpath -m "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
export PATH=$repository/node_modules/.bin:$PATH:/usr/local/go/bin
architectures=${ARCHITECTURES:-amd64 arm64}
BASE=${BASE:+$(realpath "$BASE")}
images=${IMAGES:-$out}
own=$(node -p "require('$repository/package.json').version")
[ "$version" = "$own" ] || { echo "build.sh: package.json is of $own: make version VERSION=$version, and commit" >&2; exit 2; }
SOURCE_DATE_EPOCH=$(git -C "$repository" log -1 --format=%ct)
commit=$(git -C "$repository" rev-parse HEAD)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/source"
# The commit, and nothing else that lies in the folder.
git -C "$repository" -c tar.umask=0022 archive HEAD | tar -x -C "$work/source"
cd "$work/source"

# ARCHIVE FILE…: the files, relative to the current folder.
archive() { tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w -c -f "$1" "${@:2}"; }
name() { echo "runledger-$version-$1"; }

# The command for each system, with its packages, manual page and completions.
command_() {
  make --no-print-directory commands packages manual VERSION="$version"
  local built=.cache/runledger file
  for file in "$built"/{linux,darwin,windows}-*; do cp "$file" "$out/$(name "${file##*/}")"; done
  for file in "$built"/*.{deb,rpm}; do cp "$file" "$out/$(name "linux-${file##*runledger-}")"; done
  (cd "$built/manual" && archive - -- * | gzip -n -9 > "$out/$(name manual-and-completions).tar.gz")
}

# An index of both architectures, each for itself, as an archive of its OCI layout.
images_() {
  "$here/../install.sh" buildah >&2
  local target architecture image
  buildah() { command buildah --root "$work/store" --runroot "$work/run" "$@"; }
  trap 'buildah rm --all > /dev/null 2>&1; buildah rmi --all --force > /dev/null 2>&1; rm -rf "$work"' EXIT
  . "$here/npm-access.sh" "$work"
  [ -e .cache/runledger/linux-amd64 ] || make --no-print-directory commands VERSION="$version"
  for target in runledger exec; do
    [ "$target" = runledger ] || architectures='amd64 arm64'
    for architecture in $architectures; do
      image=()
      [ -z "$BASE" ] || image=(--build-arg "NODE_IMAGE=$(buildah pull --quiet "docker-archive:$BASE/$architecture.tar")")
      [ "$target" = runledger ] || image+=(--target exec)
      buildah bud --quiet --platform "linux/$architecture" --timestamp "$SOURCE_DATE_EPOCH" --network host --isolation chroot \
        "${access[@]}" "${image[@]}" --build-arg "VERSION=$version" --build-arg "REVISION=$commit" \
        --manifest "$target" . > /dev/null
    done
    buildah manifest push --quiet --all --format oci "$target" "oci:$work/$target:ghcr.io/runledger/$target:$version" > /dev/null
    (cd "$work/$target" && archive "$out/$(name "image-$target").tar" -- *)
  done
}

# IMAGE: the digest of its index.
digest() { tar -xOf "$images/$(name "image-$1").tar" index.json | node -p "JSON.parse(require('node:fs').readFileSync(0)).manifests[0].digest"; }

chart_() { "$here/chart.sh" charts/runledger "ghcr.io/runledger/runledger:$version" "$(digest runledger)" "$out/runledger-$version.tgz"; }

sboms_() {
  npm sbom --sbom-format=cyclonedx --package-lock-only | node "$here/sbom.ts" > "$out/$(name image).cdx.json"
  "$("$here/tool.sh" cyclonedx-gomod)" bin -json -std -noserial -version "$version" "$out/$(name linux-amd64)" \
    | node "$here/sbom.ts" > "$out/$(name command).cdx.json"
}

# What a cluster without a way out needs.
bundle_() {
  local file
  mkdir "$work/bundle"
  ln "$images/$(name image-runledger).tar" "$images/$(name image-exec).tar" "$out/runledger-$version.tgz" "$work/bundle/" 2> /dev/null \
    || cp "$images/$(name image-runledger).tar" "$images/$(name image-exec).tar" "$out/runledger-$version.tgz" "$work/bundle/"
  cp docs/operate/air-gap.md "$work/bundle/README.md"
  (cd "$work/bundle" && sha256sum -- * > SHA256SUMS && archive "$out/$(name bundle).tar" -- *)
}

# The provenance of every file, and the checksums of all.
sums_() {
  rm -f "$out/SHA256SUMS" "$out/$(name provenance).intoto.json"
  node "$here/provenance.ts" "$version" "$commit" "$out" "$BASE" > "$work/provenance"
  cp "$work/provenance" "$out/$(name provenance).intoto.json"
  (cd "$out" && sha256sum -- runledger-* > "$work/sums" && cp "$work/sums" SHA256SUMS)
}

[ $# -gt 0 ] || set -- command images chart sboms bundle sums
for part; do "${part}_"; done
