#!/usr/bin/env bash
# The first process of the cluster's namespaces, started by up.sh: the network, the control plane,
# the nodes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lan=198.18.$NUMBER
logs=$STATE/logs

mount --make-rshared /
mount -t tmpfs tmpfs /run
mkdir -p "$logs" "$STATE/var-log" "$STATE/var-cni" /var/lib/cni
mount --bind "$STATE/var-log" /var/log
mount --bind "$STATE/var-cni" /var/lib/cni
# Volumes without fsync: a busy disk takes seconds for one, and ingest answers 503 after two.
# Tests kill processes, never the machine, so nothing is lost.
mkdir "$STATE/volumes" "$STATE/volumes-below" "$STATE/volumes-data" "$STATE/volumes-work"
mount -t overlay volumes "$STATE/volumes" -o \
  "lowerdir=$STATE/volumes-below,upperdir=$STATE/volumes-data,workdir=$STATE/volumes-work,volatile"
# The kubelet wants to set these for the whole machine. It finds them set, and the machine keeps its
# own.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=$STATE/sysctl-$(basename "${setting%=*}")
  echo "${setting#*=}" > "$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done

ip link set lo up
ip link add lan type bridge
ip addr add "$lan.1/24" dev lan
ip link set lan up
sysctl -qw net.ipv4.ip_forward=1
touch "$STATE/network-ready"
until [ -e "$STATE/cable-ready" ]; do sleep 0.05; done
ip link set machine master lan
ip link set machine up

start() { # NAME COMMAND…
  "${@:2}" > "$logs/$1.log" 2>&1 < /dev/null &
}
# Says why the start failed, in the ends of the logs.
give_up() { # WHAT
  echo "not within three minutes: $1" >&2
  tail -n 5 "$logs"/*.log >&2
  exit 1
}
until_ok() { # COMMAND…
  local deadline=$((SECONDS + 180))
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || give_up "$*"
    sleep 0.5
  done
}
listens() { : 2> /dev/null < "/dev/tcp/$1/$2"; } # ADDRESS PORT
both_registered() { [ "$(kubectl get nodes -o name | wc -l)" = 2 ]; }

. "$here/control-plane.sh"
. "$here/node.sh"
start_control_plane
for name in n1 n2; do ip netns add "$name"; done
start_node n1 1 &
first=$!
start_node n2 2 &
second=$!
wait "$first"
wait "$second"
until_ok both_registered
until_ok kubectl wait --for=condition=Ready nodes --all --timeout=5s
start_network_policies n1
start_network_policies n2
start_services
echo "ready $NUMBER"
# Until the program that started the cluster closes its end, or dies.
cat > /dev/null
