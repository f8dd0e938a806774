# A node: containerd, kubelet and kube-proxy in a network of their own. Sourced by inside.sh.

start_node() { # NAME NUMBER
  local name=$1 number=$2 home=$STATE/$1 address=$lan.$((10 + $2)) pods=10.244.$2
  mkdir -p "$home/cni"
  ip link add "$name" type veth peer name eth0 netns "$name"
  ip link set "$name" master lan up
  ip -n "$name" link set lo up
  ip -n "$name" addr add "$address/24" dev eth0
  ip -n "$name" link set eth0 up
  ip -n "$name" route add default via "$lan.1"
  ip route add "$pods.0/24" via "$address"
  # Not `ip netns exec`, which would mount a /sys without cgroups.
  local enter=(nsenter --net="/run/netns/$name")
  "${enter[@]}" sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
  # The machine knows no way back to a pod.
  "${enter[@]}" iptables -w -t nat -A POSTROUTING -s 10.244.0.0/16 -d "$lan.254" -j MASQUERADE

  cat > "$home/cni/10-pods.conflist" <<EOF
{ "cniVersion": "1.0.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "dataDir": "$home/addresses", "ranges": [[{ "subnet": "$pods.0/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true } } ] }
EOF
  cat > "$home/containerd.toml" <<EOF
version = 2
disabled_plugins = ["io.containerd.internal.v1.opt"]
root = "$IMAGES/$name"
state = "/run/$name-containerd"
[grpc]
  address = "/run/$name.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$home/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$STATE/registries"
EOF
  cat > "$home/kubelet.yaml" <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix:///run/$name.sock
cgroupDriver: cgroupfs
cgroupRoot: /$CGROUP/$name
failCgroupV1: false
failSwapOn: false
authentication: { anonymous: { enabled: true }, channel: { enabled: false } }
authorization: { mode: AlwaysAllow }
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: $STATE/resolv.conf
podLogsDir: $home/pod-logs
volumePluginDir: $home/plugins
healthzPort: 0
imageGCHighThresholdPercent: 100
evictionHard: { memory.available: 100Mi }
# Two cores and 4 GiB are left for pods.
systemReserved:
  cpu: "$(($(nproc) - 2))"
  memory: $(($(awk '/MemTotal/ { print $2 }' /proc/meminfo) - 4 * 1024 * 1024 - 102400))Ki
EOF
  for hierarchy in $(hierarchies); do make_group "$hierarchy/$CGROUP/$name"; done
  : > "$STATE/resolv.conf"
  start "$name-containerd" "${enter[@]}" containerd --config "$home/containerd.toml"
  until_ok test -S "/run/$name.sock"
  # Both kubelets listen on one path, whatever their --root-dir: if they start at the same moment,
  # one of them ends. It starts again, as on a machine.
  start "$name-kubelet" "${enter[@]}" sh -c 'until "$@"; do sleep 0.2; done' kubelet "$BIN/kubelet" --config="$home/kubelet.yaml" --kubeconfig="$STATE/$name.kubeconfig" \
    --root-dir="$home/kubelet" --cert-dir="$home/keys" --hostname-override="$name" --node-ip="$address"
  start "$name-kube-proxy" "${enter[@]}" "$BIN/kube-proxy" --kubeconfig="$STATE/proxy.kubeconfig" --hostname-override="$name" \
    --proxy-mode=iptables --cluster-cidr=10.244.0.0/16 --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0s \
    --conntrack-tcp-timeout-close-wait=0s --healthz-bind-address=127.0.0.1:10256 --metrics-bind-address=127.0.0.1:10249
}

# Enforces NetworkPolicies: only its firewall is on. It exits if its node is not registered.
start_network_policies() { # NAME
  start "$1-kube-router" nsenter --net="/run/netns/$1" "$BIN/kube-router" --kubeconfig="$STATE/admin.kubeconfig" \
    --hostname-override="$1" --run-firewall=true --run-router=false --run-service-proxy=false \
    --service-cluster-ip-range=10.96.0.0/16
}
