#!/usr/bin/env bash
# Brings a built release into an OCI registry, signed, with provenance and SBOM:
#   publish.sh VERSION FOLDER REGISTRY
# REGISTRY is such as ghcr.io/runledger. KEY is a private key of cosign (its password is
# COSIGN_PASSWORD); without one the identity of the workflow signs. PLAIN_HTTP=1 is for a test.
set -euo pipefail
version=$1 out=$(realpath "$2") registry=$3
here=$(cd "$(dirname "$0")" && pwd)
crane=$("$here/tool.sh" crane) cosign=$("$here/tool.sh" cosign) oras=$("$here/tool.sh" oras)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
how=(--yes)
if [ -n "${KEY:-}" ]; then
  # No service takes part: the public key proves the signature.
  echo '{"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json"}' > "$work/services.json"
  echo '{"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}' > "$work/root.json"
  how+=(--key "$KEY" --signing-config "$work/services.json" --trusted-root "$work/root.json")
fi

for image in runledger exec; do
  mkdir "$work/$image"
  tar -xf "$out/runledger-$version-image-$image.tar" -C "$work/$image"
  pushed=$("$crane" push "$work/$image" "$registry/$image:$version")
  "$cosign" sign "${how[@]}" "$pushed"
  sbom=$([ "$image" = exec ] && echo command || echo image)
  "$cosign" attest "${how[@]}" --type cyclonedx --predicate "$out/runledger-$version-$sbom.cdx.json" "$pushed"
  node -p "JSON.stringify(JSON.parse(require('node:fs').readFileSync('$out/runledger-$version-provenance.intoto.json')).predicate)" > "$work/predicate.json"
  "$cosign" attest "${how[@]}" --type slsaprovenance1 --predicate "$work/predicate.json" "$pushed"
done

# `helm push` takes the time of the file into the manifest.
touch -d "@$(git -C "$here" log -1 --format=%ct)" "$out/runledger-$version.tgz"
helm push "$out/runledger-$version.tgz" "oci://$registry/charts" ${PLAIN_HTTP:+--plain-http} > "$work/push" 2>&1
digest=$(sed -n 's/^Digest: //p' "$work/push")
"$cosign" sign "${how[@]}" "$registry/charts/runledger@$digest"
(cd "$here/../../charts" && "$oras" push ${PLAIN_HTTP:+--plain-http} "$registry/charts/runledger:artifacthub.io" \
  --config /dev/null:application/vnd.cncf.artifacthub.config.v1+yaml \
  artifacthub-repo.yml:application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml > /dev/null)
"$cosign" sign-blob "${how[@]}" --bundle "$out/SHA256SUMS.sigstore.json" "$out/SHA256SUMS" > /dev/null
