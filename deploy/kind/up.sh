#!/bin/sh
# Starts Runledger in a kind cluster on this machine, at https://localhost:8443.
# Needs docker, kind, kubectl and helm. A second run upgrades the release.
# HTTPS_PORT, HTTP_PORT, CONSOLE_PORT and CLUSTER change the ports and the name of the cluster.
# `kind delete cluster --name runledger` removes everything.
set -eu

cluster=${CLUSTER:-runledger}
https_port=${HTTPS_PORT:-8443}
http_port=${HTTP_PORT:-8080}
console_port=${CONSOLE_PORT:-8444}
repository=$(cd "$(dirname "$0")/../.." && pwd)

for program in docker kind kubectl helm; do
  command -v "$program" >/dev/null || { echo "up.sh: $program is missing: install it first" >&2; exit 1; }
done

version=$(sed -n 's/^appVersion: *//p' "$repository/charts/runledger/Chart.yaml")
# One tag for each content of the image, so that a new image replaces the pods.
docker build --quiet --tag runledger:kind "$repository" >/dev/null
tag=$version-$(docker image inspect --format '{{.Id}}' runledger:kind | cut -c 8-19)
docker tag runledger:kind "runledger:$tag"

if ! kind get clusters 2>/dev/null | grep -qx "$cluster"; then
  kind create cluster --name "$cluster" --config - <<CONFIG
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
    extraPortMappings:
      - { containerPort: 30443, hostPort: $https_port, listenAddress: 127.0.0.1 }
      - { containerPort: 30080, hostPort: $http_port, listenAddress: 127.0.0.1 }
      - { containerPort: 30444, hostPort: $console_port, listenAddress: 127.0.0.1 }
CONFIG
fi
kind load docker-image --name "$cluster" "runledger:$tag"

context=kind-$cluster
helm upgrade --install runledger "$repository/charts/runledger" --kube-context "$context" \
  --namespace runledger --create-namespace --values "$repository/deploy/kind/values.yaml" \
  --set image.repository=docker.io/library/runledger --set-string image.tag="$tag" \
  --set publicUrl="https://localhost:$https_port" --set console.publicUrl="https://localhost:$console_port" --wait --timeout 10m >/dev/null
helm test runledger --kube-context "$context" --namespace runledger >/dev/null

secret_entry() {
  kubectl --context "$context" -n runledger-tokens get secret runledger.runledger-demo -o "jsonpath={.data.$1}" | base64 -d
}
token=$(secret_entry token)
read_token=$(secret_entry read-token)
cat <<READY

Runledger serves at https://localhost:$https_port (self-signed certificate). Register an event:

  curl -w '\n' -k https://localhost:$https_port/v1/register/ -H 'token: $token' -H 'Content-Type: application/json' \\
    -d '{"automation_id":"6f1c2b54-8d3e-4c6a-9f70-2a4d5e6b7c81","execution_id":"first","event":"START"}'

Read the execution:

  curl -w '\n' -k 'https://localhost:$console_port/v1/executions/?limit=1' -H 'token: $read_token'

READY
