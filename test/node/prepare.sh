#!/usr/bin/env bash
# Prints the folder of a node's programs and that of its images, which it makes when they are
# missing.
#   prepare.sh CONTROL-PLANE: the folder of kube-apiserver and etcd.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../deploy/install.sh" buildah cni conntrack containerd ip ipset iptables mmdebstrap openssl runc >&2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/runledger
key=$(cat "$here"/tools/build.sh "$here"/tools/*/go.* "$here"/../cluster/tools/go.* | sha256sum | cut -c1-16)
programs=$cache/node-$key
if [ ! -e "$programs" ]; then
  echo 'Building a Kubernetes node with Go, once. This takes about a quarter of an hour.' >&2
  # Aside, and then into place, so that no run finds half of it.
  "$here/tools/build.sh" "$programs-$$" && mv -T "$programs-$$" "$programs"
fi
ln -sf "$1/kube-apiserver" "$1/etcd" "$programs/"
"$here/images/build.sh" "$cache/images" "$programs" >&2
echo "$programs $cache/images/archives"
