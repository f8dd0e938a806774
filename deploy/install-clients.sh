#!/bin/sh
# Installs the Python packages of a requirements file into a folder of their own under
# ~/.cache/runledger, once, and prints the folder of their programs.
set -eu

requirements=$1
version=$(cksum <"$requirements" | tr -dc '0-9')
folder=${XDG_CACHE_HOME:-$HOME/.cache}/runledger/clients-$version
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2 || { echo "install-clients.sh: install python3 with its module venv" >&2; exit 1; }
  "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" >&2
  touch "$folder/complete"
fi
echo "$folder/bin"
