# Sourced with `cache`, `work`, `here` and `repository`. Keeps images in the store of `cache`, and
# builds the base of the Dockerfile, as `base`, where no image registry is within reach. With an
# `architecture` it is one for that, whose programs this machine must be able to run.

buildah() { command buildah --root "$cache/store" --runroot "$cache/run" "$@"; }

# NAME CONTENT…: whether the image was made of that content before.
made() {
  local key=$cache/keys/${1//[\/:]/-}
  mkdir -p "$cache/keys"
  sum=$(printf '%s\n' "$@" | sha256sum)
  [ -e "$key" ] && [ "$(cat "$key")" = "$sum" ] && buildah images --quiet "$1" > /dev/null 2>&1
}
# NAME CONTENT…: the same. Otherwise the image of that name goes.
still() {
  made "$@" && return
  buildah rmi --force "$1" > /dev/null 2>&1 || true
  return 1
}
# NAME: what was asked of `made` is made now.
done_with() { echo "$sum" > "$cache/keys/${1//[\/:]/-}"; }
# NAME SUITE PACKAGES: an image of Debian's packages, without what a container has no use for.
# Another checkout has other paths, and no other content: they count for nothing.
debian() {
  still "${@//"$repository"/}" "$(cat "$here/postgres-entrypoint.sh")" && return
  mmdebstrap --quiet --variant=minbase --include="$3" ${architecture:+--architectures=$architecture} \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="${4:-true}" "$2" "$work/root.tar"
  local container
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$work/root.tar" / > /dev/null
  buildah config ${architecture:+--arch $architecture} --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:5}" "$container"
  buildah commit --quiet --rm "$container" "$1" > /dev/null
  done_with "$1"
  rm "$work/root.tar"
}

# The Node and npm of the tests, as the official image of Node has them.
node=$NODE
if [ -n "${architecture:-}" ]; then
  package=node-linux-$architecture@$("$NODE" -p process.versions.node)
  node=$cache/$package/package/bin/node
  [ -e "$node" ] || (mkdir -p "$cache/$package" && cd "$cache/$package" && npm pack --silent "$package" | xargs tar -xzf)
fi
install_node=": $("$NODE" --version) && cp $node \$1/usr/local/bin/node \
  && mkdir -p \$1/usr/local/lib/node_modules \
  && cp -r $(dirname "$(dirname "$(readlink -f "$(command -v npm)")")") \$1/usr/local/lib/node_modules/npm \
  && ln -s ../lib/node_modules/npm/bin/npm-cli.js \$1/usr/local/bin/npm"
# Without its digest, which is that of the image in the registry.
base=$(sed -n 's/^ARG NODE_IMAGE=\([^@]*\).*/\1/p' "$repository/Dockerfile")${architecture:+-$architecture}
debian "$base" bookworm ca-certificates,libstdc++6 "$install_node"
