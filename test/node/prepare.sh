#!/usr/bin/env bash
# Builds programs and images if they are missing, and prints their two folders. Each run has its
# folder of images: another run may build others.
#   prepare.sh CONTROL-PLANE: the folder of kube-apiserver and etcd.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../deploy/install.sh" buildah cni conntrack containerd ip ipset iptables mmdebstrap openssl runc >&2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/runledger
# Other programs of ../cluster/tools are not for a node.
key=$(find "$here/tools" "$here"/../cluster/tools/go.* -type f | sort | xargs cat | sha256sum | cut -c1-16)
programs=$cache/node-$key
mkdir -p "$cache"
exec 9> "$cache/node.lock"
flock 9
if [ ! -e "$programs" ]; then
  echo 'Building a Kubernetes node with Go, once. This takes about a quarter of an hour.' >&2
  # Aside, and then into place, so that no run finds half of it.
  rm -rf "$cache"/node-*-*
  "$here/tools/build.sh" "$programs-$$" && mv -T "$programs-$$" "$programs"
fi
ln -sf "$1/kube-apiserver" "$1/etcd" "$programs/"
"$here/images/build.sh" "$cache/images" "$programs" >&2
"$here/images/unpack.sh" "$cache/images/archives" "$cache/images/containerd" >&2
find "$cache/images" -maxdepth 1 -name 'run-*' -mtime +0 -exec rm -r {} +
run=$(mktemp -d "$cache/images/run-XXXXXX")
cp -l "$cache"/images/archives/{*.tar,shell-image} "$run/"
for node in n1 n2; do "$here/images/link.sh" "$cache/images/containerd" "$run/$node"; done
echo "$programs $run"
