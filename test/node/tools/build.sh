#!/usr/bin/env bash
# Builds the programs of a node with Go, from the versions pinned in the go.mod files, once:
#   build.sh FOLDER
# The API server and etcd are those of test/cluster, which builds them itself.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
export GOFLAGS= CGO_ENABLED=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # FOLDER-OF-GO.MOD LINK-FLAGS PACKAGE…
  (cd "$1" && go build -mod=readonly -trimpath -ldflags="-s -w $2" -o "$folder/" "${@:3}")
}

mkdir -p "$folder"
build "$here/pause" '' .
kubernetes=$here/../../cluster/tools
version=$(cd "$kubernetes" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
build "$kubernetes" "-X k8s.io/component-base/version.gitVersion=$version" \
  k8s.io/kubernetes/cmd/{kubelet,kube-proxy,kube-controller-manager,kube-scheduler}
build "$here/coredns" '' .
build "$here/kube-router" '' github.com/cloudnativelabs/kube-router/v2/cmd/kube-router
build "$here/local-path" '' github.com/rancher/local-path-provisioner

# Traefik without the DNS providers of its certificates: traefik/dns/dns.go says why.
cp -r "$here/traefik" "$work/traefik"
lego=github.com/go-acme/lego/v5@$(sed -nE 's#.*go-acme/lego/v5 (v[^ ]+)$#\1#p' "$here/traefik/go.mod")
lego=$(cd / && go mod download -json "$lego" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
cp -r "$lego" "$work/traefik/lego"
chmod -R u+w "$work/traefik/lego"
rm -r "$work/traefik/lego/providers/dns"
cp -r "$here/traefik/dns" "$work/traefik/lego/providers/dns"
build "$work/traefik" '' github.com/traefik/traefik/v3/cmd/traefik

# The definitions of the Gateway API that this Traefik serves.
gateway=sigs.k8s.io/gateway-api@$(sed -nE 's#.*sigs.k8s.io/gateway-api (v[^ ]+).*#\1#p' "$here/traefik/go.mod")
gateway=$(cd / && go mod download -json "$gateway" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
for file in "$gateway"/config/crd/standard/*.yaml; do
  cat "$file"
  echo '---'
done > "$folder/gateway-api.yaml"
