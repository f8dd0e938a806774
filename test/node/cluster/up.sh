#!/usr/bin/env bash
# Runs a Kubernetes cluster in network, mount and process namespaces of its own until stdin ends:
#   up.sh BIN IMAGES
# BIN, IMAGES: what ../prepare.sh made. Prints `ready NUMBER` when the nodes are: the machine
# reaches them at 198.18.NUMBER.0/24, and finds in /tmp/runledger-node-NUMBER all that the cluster
# keeps. Leaves no process, mount, cgroup or interface, also after a crash: the kernel ends a
# process namespace with its first process, which ends when stdin does.
set -euo pipefail
export BIN=$1 IMAGES=$2
SHELL_IMAGE=$(cat "$IMAGES/shell-image")
export SHELL_IMAGE
here=$(cd "$(dirname "$0")" && pwd)

# Every hierarchy of cgroup v1, or the one of v2.
hierarchies() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup; else ls -d /sys/fs/cgroup/*/; fi
}

# NUMBER: removes what the cluster of that number has left.
remove_rest() {
  for hierarchy in $(hierarchies); do
    [ -d "$hierarchy/runledger-node-$1" ] || continue
    for _ in $(seq 100); do
      find "$hierarchy/runledger-node-$1" -depth -type d -exec rmdir {} + 2> /dev/null && break
      sleep 0.05
    done
  done
  rm -rf --one-file-system "/tmp/runledger-node-$1"
}

clean_up() {
  # With the first process of the namespace go all others, their mounts and their networks.
  [ -z "${cluster:-}" ] || { kill -KILL "$cluster" && wait "$cluster"; } 2> /dev/null || true
  remove_rest "$NUMBER"
}
runs() { ip link show "rl-node-$1" > /dev/null 2>&1; }

# One start at a time, on this machine.
exec 9> /tmp/runledger-node.lock
flock 9
# The rest of runs that were killed: their networks are gone.
for folder in /tmp/runledger-node-*; do
  number=${folder##*-}
  runs "$number" || remove_rest "$number"
done
NUMBER=0
while runs "$NUMBER"; do NUMBER=$((NUMBER + 1)); done
export NUMBER STATE=/tmp/runledger-node-$NUMBER CGROUP=runledger-node-$NUMBER
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
for hierarchy in $(hierarchies); do
  mkdir -p "$hierarchy/$CGROUP"
  for file in cpuset.cpus cpuset.mems; do
    [ ! -e "$hierarchy/$CGROUP/$file" ] || cat "$hierarchy/$file" > "$hierarchy/$CGROUP/$file" 2>/dev/null || true
  done
done

mkdir -m 0700 "$STATE"
unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private \
  bash "$here/inside.sh" <&0 9>&- &
cluster=$!
# Cleans up when stdin ends, also when this script was killed.
(
  trap '' INT TERM HUP
  exec 9>&- > /dev/null 2>&1
  cat
  clean_up
) <&0 &
# The machine's end of the cable. It goes with the cluster's network.
until [ -e "$STATE/network-ready" ]; do kill -0 "$cluster"; sleep 0.05; done
inner=$(pgrep -P "$cluster" | head -1)
ip link add "rl-node-$NUMBER" type veth peer name machine netns "$inner"
ip addr add "198.18.$NUMBER.254/24" dev "rl-node-$NUMBER"
ip link set "rl-node-$NUMBER" up
touch "$STATE/cable-ready"
exec 9>&-
wait "$cluster"
