#!/usr/bin/env bash
# Says in one line what this machine lacks to run nodes of Kubernetes; fails then.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lacks() {
  echo "This machine cannot run a Kubernetes node: $1" >&2
  exit 1
}
[ "$(uname -s)" = Linux ] || lacks 'it does not run Linux.'
[ "$(id -u)" = 0 ] || lacks 'that takes root.'
command -v go > /dev/null || lacks 'Go is missing.'
[ "$(nproc)" -ge 2 ] || lacks 'a node needs two cores.'
[ "$(awk '/MemTotal/ { print $2 }' /proc/meminfo)" -ge $((5 * 1024 * 1024)) ] || lacks 'a node needs 4 GiB for pods.'
"$here/../../../deploy/install.sh" ip > /dev/null 2>&1 || lacks 'ip (iproute2) is missing.'
modprobe br_netfilter overlay 2> /dev/null
folder=$(mktemp -d)
attempt='ip link add lan type bridge && ip link add cable type veth peer name end &&
  sysctl -qw net.bridge.bridge-nf-call-iptables=1 && cd "$1" && mkdir 1 2 3 4 &&
  mount -t overlay overlay -o lowerdir=1,upperdir=2,workdir=3 4'
unshare --mount --net --pid --fork --kill-child --mount-proc sh -c "$attempt" sh "$folder" > /dev/null 2>&1
attempted=$?
rm -rf "$folder"
[ "$attempted" = 0 ] || lacks 'it refuses namespaces, bridges, their firewall or overlay mounts.'
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/memory; do
  mkdir "$hierarchy/runledger-attempt" 2> /dev/null && rmdir "$hierarchy/runledger-attempt" && exit 0
done
lacks 'it gives no control groups.'
