#!/usr/bin/env bash
# Runs a Kubernetes cluster in network, mount and process namespaces of its own until stdin ends:
#   up.sh BIN IMAGES
# BIN, IMAGES: what ../prepare.sh made. The nodes keep their images in IMAGES, which goes at the
# end. Prints `ready NUMBER` when the nodes are: the machine reaches them at 198.18.NUMBER.0/24, and
# finds all else that the cluster keeps in /tmp/runledger-node-NUMBER. A start that takes longer
# than three minutes fails and prints the ends of the logs. Leaves no process, mount, cgroup or
# interface, also after a crash: the kernel ends a process namespace with its first process, which
# ends when stdin does.
set -euo pipefail
export BIN=$1 IMAGES=$2
SHELL_IMAGE=$(cat "$IMAGES/shell-image")
export SHELL_IMAGE
here=$(cd "$(dirname "$0")" && pwd)

# Every hierarchy of cgroup v1, or the one of v2.
hierarchies() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup; else ls -d /sys/fs/cgroup/*/; fi
}
# FOLDER: makes a control group. On v2 its parent hands its controllers down; on v1 it takes the
# processors and memories of its parent.
make_group() {
  local parent
  parent=$(dirname "$1")
  mkdir -p "$1"
  for controller in $(cat "$parent/cgroup.controllers" 2> /dev/null); do
    echo "+$controller" > "$parent/cgroup.subtree_control"
  done
  for file in cpuset.cpus cpuset.mems; do
    [ ! -e "$parent/$file" ] || cat "$parent/$file" > "$1/$file"
  done
}
export -f hierarchies make_group

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

# With the first process of the namespace go all others, their mounts and their networks. Nothing is
# left to do when this cluster's folder has gone: another one may have its number.
clean_up() {
  exec 9> /tmp/runledger-node.lock
  flock 9
  [ "$(cat "$STATE/owner" 2> /dev/null)" = "$OWNER" ] || return 0
  if [ -n "${cluster:-}" ] && grep -qs inside.sh "/proc/$cluster/cmdline"; then
    kill -KILL "$cluster" 2> /dev/null || true
    while [ -e "/proc/$cluster" ] && ! grep -qs '^State:.Z' "/proc/$cluster/status"; do sleep 0.05; done
  fi
  remove_rest "$NUMBER"
  rm -rf --one-file-system "$IMAGES"
}
runs() { ip link show "rl-node-$1" > /dev/null 2>&1; }

# One start at a time, on this machine.
exec 9> /tmp/runledger-node.lock
flock 9
# The rest of runs that were killed: their networks are gone.
for folder in /tmp/runledger-node-[0-9]*; do
  number=${folder##*-}
  runs "$number" || remove_rest "$number"
done
NUMBER=0
while runs "$NUMBER"; do NUMBER=$((NUMBER + 1)); done
export NUMBER STATE=/tmp/runledger-node-$NUMBER CGROUP=runledger-node-$NUMBER
OWNER="$$ $(date +%s%N)"
mkdir -m 0700 "$STATE"
echo "$OWNER" > "$STATE/owner"
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
for hierarchy in $(hierarchies); do make_group "$hierarchy/$CGROUP"; done
# It takes the place of two machines: beside other work it weighs as much as ten processes.
for share in /sys/fs/cgroup/cpu/"$CGROUP"/cpu.shares=10240 /sys/fs/cgroup/"$CGROUP"/cpu.weight=1000; do
  [ ! -e "${share%=*}" ] || echo "${share#*=}" > "${share%=*}"
done

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
