#!/usr/bin/env bash
# Unpacks packages of Debian testing into a folder of their own: nothing of the system is
# touched, no root is needed. What they depend on has to be named too.
#
# usage: debian_unpack.sh FOLDER PACKAGE...
set -euo pipefail

folder=${1:?usage: debian_unpack.sh FOLDER PACKAGE...}
shift
release=forky

# The first Debian archive of the machine's own configuration, in either of apt's formats.
mirror() {
  find /etc/apt -name '*.list' -exec sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+\/debian)\/? .*/\2/p' {} +
  find /etc/apt -name '*.sources' -exec sed -nE 's/^URIs: *([^ ]+\/debian)\/?( .*)?$/\1/p' {} +
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$(mirror | sed -n 1p)
[[ -n $archive ]] || {
  echo "No Debian archive is configured in /etc/apt." >&2
  exit 1
}

mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
echo "deb $archive $release main" >"$work/sources.list"
cat >"$work/apt.conf" <<CONF
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "30";
Dir::State "$work";
Dir::State::Lists "$work/lists";
Dir::State::status "/dev/null";
Dir::Cache "$work/cache";
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "-";
CONF
export APT_CONFIG=$work/apt.conf

apt-get -qq update >/dev/null
(cd "$work/debs" && apt-get -qq download "$@" >/dev/null)

rm -rf "$folder"
mkdir -p "$folder"
for package in "$work"/debs/*.deb; do dpkg-deb --extract "$package" "$folder"; done
