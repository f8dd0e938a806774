#!/bin/sh
# Installs the servers in its arguments unless they exist: with apt, brew, dnf or apk. It prints
# only errors.
set -eu

# The program that proves that a server exists, and its packages for apt, brew, dnf and apk.
describe() {
  case "$1" in
    redis) programs='redis-server valkey-server' packages='redis-server redis redis redis' ;;
    postgres) programs='postgres initdb' packages='postgresql postgresql@17 postgresql-server postgresql' ;;
    nginx) programs='nginx' packages='nginx-light nginx nginx nginx' ;;
    caddy) programs='caddy' packages='caddy caddy caddy caddy' ;;
    chromium) programs='chromium-headless-shell chromium chromium-browser google-chrome' packages='chromium-headless-shell chromium chromium chromium' ;;
    faketime) programs='faketime' packages='faketime libfaketime libfaketime libfaketime' ;;
    pgbouncer) programs='pgbouncer /usr/sbin/pgbouncer' packages='pgbouncer pgbouncer pgbouncer pgbouncer' ;;
    wrk) programs='wrk' packages='wrk wrk wrk wrk' ;;
    prometheus) programs='promtool' packages='prometheus prometheus prometheus prometheus' ;;
    alertmanager) programs='prometheus-alertmanager alertmanager' packages='prometheus-alertmanager alertmanager alertmanager alertmanager' ;;
    python) programs='python3' packages='python3 python3 python3 python3' ;;
    go) programs='go /usr/local/go/bin/go' packages='golang-go go golang go' ;;
    java) programs='javac' packages='default-jdk-headless openjdk java-latest-openjdk-devel openjdk21-jdk' ;;
    maven) programs='mvn' packages='maven maven maven maven' ;;
    borg) programs='borg' packages='borgbackup borgbackup borgbackup borgbackup' ;;
    ip) programs='ip' packages='iproute2 iproute2mac iproute iproute2' ;;
    arch-test | buildah | conntrack | containerd | ipset | iptables | mmdebstrap | openssl | runc) programs=$1 packages="$1 $1 $1 $1" ;;
    cni) programs='/usr/lib/cni/bridge' packages='containernetworking-plugins cni-plugins containernetworking-plugins cni-plugins' ;;
    *) echo "install.sh: unknown server: $1" >&2; exit 2 ;;
  esac
}

# Debian installs the programs of Postgres outside the PATH.
present() {
  for program in $programs; do
    command -v "$program" >/dev/null 2>&1 && return 0
    ls /usr/lib/postgresql/*/bin/"$program" >/dev/null 2>&1 && return 0
  done
  return 1
}

missing() {
  echo "$1 is missing ($programs): install the package $2 with your package manager" >&2
  exit 1
}

quietly() {
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

install() {
  # shellcheck disable=SC2086 # the shell must split the list
  set -- "$1" $packages
  if command -v brew >/dev/null 2>&1; then
    quietly brew install "$3"
  elif [ "$(id -u)" -ne 0 ]; then
    missing "$1" "$2"
  elif command -v apt-get >/dev/null 2>&1; then
    quietly apt-get update
    quietly env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2"
  elif command -v dnf >/dev/null 2>&1; then
    quietly dnf install -y "$4"
  elif command -v apk >/dev/null 2>&1; then
    quietly apk add "$5"
  else
    missing "$1" "$2"
  fi
}

for server in "$@"; do
  describe "$server"
  present || install "$server"
done
