#!/usr/bin/env bash
# Imports the archives of images into a folder of containerd, once for all nodes and runs:
#   unpack.sh ARCHIVES FOLDER
# FOLDER is what containerd calls its root. It imports only the archives that changed.
set -euo pipefail
archives=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
state() { cat "$archives/$1.tar.of"; }
# The chart names its bundled images by digest too. Here these are the names of images of our own.
digests=$(sed -nE 's/^([^#: ]+:[^: ]+): (sha256:[0-9a-f]+)$/\1 \2/p' "$here/../../../charts/runledger/files/digests.yaml")

names=$(cd "$archives" && ls ./*.tar | sed -E 's#\./(.*)\.tar#\1#')
wanted=$(containerd --version && for name in $names; do echo "$name $(state "$name")"; done && echo "$digests")
[ "$(cat "$folder/of" 2> /dev/null)" != "$wanted" ] || exit 0

# Aside, and then into place, so that no run finds half of it.
rm -rf "$folder-new"
if [ "$(head -1 "$folder/of" 2> /dev/null)" = "$(containerd --version)" ]; then
  "$here/link.sh" "$folder" "$folder-new"
else
  mkdir -p "$folder-new"
fi
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
cat > "$run/containerd.toml" << END
version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
root = "$folder-new"
state = "$run/state"
[grpc]
  address = "$run/sock"
END
changed=()
for name in $names; do
  grep -qsFx "$name $(state "$name")" "$folder/of" || changed+=("$archives/$name.tar")
done
export run digests
# Layers are mounted for the time of the import, in a namespace of its own.
unshare --mount --propagation private bash -c '
  set -euo pipefail
  containerd --config "$run/containerd.toml" > "$run/log" 2>&1 &
  daemon=$!
  trap "kill $daemon; wait" EXIT
  until [ -S "$run/sock" ]; do kill -0 $daemon; sleep 0.05; done
  images() { ctr -a "$run/sock" -n k8s.io images "$@" > /dev/null; }
  for archive; do images import "$archive"; done
  while read -r name digest; do images tag --force "$name" "${name%:*}@$digest"; done <<< "$digests"
  # --sync also removes the layers that no image has any more.
  read -r some < <(ctr -a "$run/sock" -n k8s.io images ls -q)
  images tag "$some" localhost/none:1
  images rm --sync localhost/none:1
' import "${changed[@]}" || { cat "$run/log" >&2 && exit 1; }
echo "$wanted" > "$folder-new/of"
rm -rf "$folder"
mv -T "$folder-new" "$folder"
