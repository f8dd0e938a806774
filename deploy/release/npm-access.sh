# Sourced with a folder for its file. Lets npm inside a build of buildah reach the registry that npm
# outside does: `access` is what `buildah bud` needs for that. The files are mounted for the time of
# the build only.
cp "$(npm config get userconfig)" "$1/npmrc" 2> /dev/null || : > "$1/npmrc"
authorities=$(npm config get cafile)
[ "$authorities" != null ] || authorities=${NODE_EXTRA_CA_CERTS:-}
access=(--volume "$1/npmrc:/root/.npmrc:ro")
if [ -n "$authorities" ]; then
  echo "cafile=$authorities" >> "$1/npmrc"
  access+=(--volume "$(dirname "$authorities"):$(dirname "$authorities"):ro")
fi
