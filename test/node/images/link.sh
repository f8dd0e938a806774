#!/usr/bin/env bash
# Copies a folder of containerd, by hard links:
#   link.sh FROM TO
# The databases are copied, because containerd writes to them. It replaces all other files.
set -euo pipefail
cp -al "$1" "$2"
(cd "$1" && find . -maxdepth 2 -name '*.db') | while read -r database; do
  cp --remove-destination "$1/$database" "$2/$database"
done
