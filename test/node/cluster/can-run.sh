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
"$here/../../../deploy/install.sh" ip > /dev/null 2>&1 || lacks 'ip (iproute2) is missing.'
attempt='ip link add lan type bridge && ip link add cable type veth peer name end && mount -t tmpfs tmpfs /run &&
  mkdir /run/1 /run/2 /run/3 /run/4 && mount -t overlay overlay -o lowerdir=/run/1,upperdir=/run/2,workdir=/run/3 /run/4'
unshare --mount --net --pid --fork --kill-child --mount-proc sh -c "$attempt" > /dev/null 2>&1 ||
  lacks 'it refuses namespaces, bridges or overlay mounts.'
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/memory; do
  mkdir "$hierarchy/runledger-attempt" 2> /dev/null && rmdir "$hierarchy/runledger-attempt" && exit 0
done
lacks 'it gives no control groups.'
