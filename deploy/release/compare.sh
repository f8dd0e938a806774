#!/usr/bin/env bash
# Builds a release twice, from two clean clones in different folders, and compares every byte:
#   compare.sh VERSION FOLDER [PART…]
# FOLDER gets the files. Parts and variables are those of build.sh.
set -euo pipefail
version=$1 out=$(realpath -m "$2")
shift 2
repository=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for clone in "$work/one" "$work/a folder/two"; do
  git clone --quiet --shared "$repository" "$clone"
  ln -s "$repository/node_modules" "$clone/node_modules"
done
"$work/one/deploy/release/build.sh" "$version" "$out" "$@"
"$work/a folder/two/deploy/release/build.sh" "$version" "$work/again" "$@"
diff -r "$out" "$work/again"
ls "$out"
