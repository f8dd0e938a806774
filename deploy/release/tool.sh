#!/bin/sh
# Prints the path of a program that makes a release, and builds it with Go the first time:
#   tool.sh nfpm|crane|cosign|oras|cyclonedx-gomod
set -eu
case "$1" in
  nfpm) package=github.com/goreleaser/nfpm/v2/cmd/nfpm version=v2.45.0 ;;
  crane) package=github.com/google/go-containerregistry/cmd/crane version=v0.22.1 ;;
  cosign) package=github.com/sigstore/cosign/v3/cmd/cosign version=v3.1.3 ;;
  oras) package=oras.land/oras/cmd/oras version=v1.3.6 ;;
  cyclonedx-gomod) package=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod version=v1.10.0 ;;
  *) echo "tool.sh: unknown tool: $1" >&2; exit 2 ;;
esac
folder=${XDG_CACHE_HOME:-$HOME/.cache}/runledger/$1-$version
if [ ! -x "$folder/$1" ]; then
  "$(dirname "$0")/../install.sh" go >&2
  echo "Building $1 $version, the first time only." >&2
  GOBIN=$folder GOFLAGS= CGO_ENABLED=0 PATH=$PATH:/usr/local/go/bin go install -trimpath -ldflags='-s -w' "$package@$version" >&2
fi
echo "$folder/$1"
