# shellcheck shell=bash
# Sourced by the scripts beside it: brings a Python and virtual environments, once.
#
#   python=$(ensure_venv NAME REQUIREMENTS... [--override VERSION])/bin/python
#
# The interpreter and uv are kept in the user's cache folder, the environments in the
# checkout's .venv/. Progress goes to stderr, the answer to stdout.

BOOTSTRAP_LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BOOTSTRAP_ROOT=$(cd "$BOOTSTRAP_LIB/../.." && pwd)
BOOTSTRAP_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/proactive-agent
BOOTSTRAP_FORMAT=1 # raise it to have every environment built anew

# uv trusts a list of its own; a network that inspects its traffic is known only here.
system_certificates=/etc/ssl/certs/ca-certificates.crt
if [[ -z ${SSL_CERT_FILE:-} && -r $system_certificates ]]; then
  export SSL_CERT_FILE=$system_certificates
fi

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "Error: $*"
  exit 1
}

# Runs a command, silent unless it fails: installers warn about things that are harmless here.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  ((status == 0)) || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# bounded SECONDS COMMAND...: macOS has no `timeout`; uv's own network limits hold there.
bounded() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null; then timeout "$seconds" "$@"; else "$@"; fi
}

# locked FILE COMMAND...: a second run waits here instead of building into the same folder.
locked() (
  lock=$1
  shift
  mkdir -p "$(dirname "$lock")"
  exec 9>>"$lock"
  if command -v flock >/dev/null; then
    flock 9
  else
    perl -MFcntl=:flock -e 'open(my $f, ">&=", 9) and flock($f, LOCK_EX) or die "$!\n"'
  fi
  "$@" 9>&-
)

new_enough() {
  "$1" -c 'import ssl, sqlite3, sys; sys.exit(sys.version_info < (3, 14, 2))' 2>/dev/null
}

# --- uv ---------------------------------------------------------------------------

# Prints uv's path if there is one already.
find_uv() {
  command -v uv && return
  [[ -x $BOOTSTRAP_CACHE/uv/bin/uv ]] && printf '%s\n' "$BOOTSTRAP_CACHE/uv/bin/uv"
}

# pip_into FOLDER PYTHON PACKAGE: with that Python's pip, the one that Debian keeps as a
# wheel beside it, or one that `venv` brings.
pip_into() {
  local folder=$1 python=$2 package=$3 prefix wheel
  prefix=$("$python" -c 'import sys; print(sys.base_prefix)' 2>/dev/null) || return 1
  for wheel in "$prefix"/share/python-wheels/pip-*.whl; do break; done
  if "$python" -m pip --version >/dev/null 2>&1; then
    set -- "$python" -m pip
  elif [[ -f $wheel ]]; then
    set -- "$python" "$wheel/pip"
  elif "$python" -m venv "$folder.pip" >/dev/null 2>&1; then
    set -- "$folder.pip/bin/python" -m pip
  else
    return 1
  fi
  quietly bounded 300 "$@" install -q --target "$folder" "$package"
}

# install_uv PYTHON: it appears in one step, because others may look for it without waiting.
install_uv() {
  local home=$BOOTSTRAP_CACHE/uv status=0
  find_uv >/dev/null && return
  rm -rf "$home"
  mkdir -p "$BOOTSTRAP_CACHE"
  { pip_into "$home.new" "$1" uv && mv "$home.new" "$home"; } || status=1
  rm -rf "$home.new" "$home.new.pip"
  return "$status"
}

# --- Python -----------------------------------------------------------------------

python_of_the_system() {
  local candidate
  for candidate in "${PYTHON:-}" python3.14 python3; do
    [[ -n $candidate ]] && candidate=$(command -v "$candidate") || continue
    if new_enough "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# Offline, this has to give up soon: a machine without the open internet has way three.
python_by_uv() {
  local uv
  uv=$(find_uv) || { install_uv python3 && uv=$(find_uv); } || return 1
  export UV_PYTHON_INSTALL_DIR=$BOOTSTRAP_CACHE/uv-python
  UV_HTTP_TIMEOUT=20 UV_HTTP_RETRIES=1 bounded 300 "$uv" python install -q --no-bin 3.14 \
    >/dev/null 2>&1 </dev/null || return 1
  "$uv" python find --managed-python 3.14 2>/dev/null
}

python_of_debian() {
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
  "$BOOTSTRAP_LIB/debian_python.sh" "$BOOTSTRAP_CACHE/debian-python3.14"
}

# Writes the path of an interpreter into the cache folder, whatever way it comes.
set_up_python() {
  local note=$BOOTSTRAP_CACHE/interpreter way python
  [[ -s $note ]] && new_enough "$(<"$note")" && return
  for way in python_of_the_system python_by_uv python_of_debian; do
    case $way in
      python_by_uv) say "Setting up Python 3.14 with uv (once) ..." ;;
      python_of_debian)
        say "uv's Python cannot be had here. Taking Debian's packages (once, about 20 s) ..."
        ;;
    esac
    if python=$($way) && new_enough "$python"; then
      printf '%s\n' "$python" >"$note"
      return
    fi
  done
  fail "no Python 3.14.2 or newer. Install one and name it: PYTHON=/path/to/python3.14," \
    "or install uv (https://docs.astral.sh/uv), and run this again."
}

# Prints the path of a Python that Home Assistant runs on.
ensure_python() {
  if [[ -n ${PYTHON:-} ]]; then
    new_enough "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.14.2 or newer."
    command -v "$PYTHON"
    return
  fi
  locked "$BOOTSTRAP_CACHE/lock" set_up_python && cat "$BOOTSTRAP_CACHE/interpreter"
}

# Prints uv's path. Call it after ensure_python, whose Python can bring uv if nothing else can.
ensure_uv() {
  find_uv && return
  say "Setting up uv (once) ..."
  locked "$BOOTSTRAP_CACHE/lock" install_uv python3 ||
    locked "$BOOTSTRAP_CACHE/lock" install_uv "$1" ||
    fail "uv could not be set up. Install it, or Debian's python3-pip, and run this again."
  find_uv
}

# --- Environments -----------------------------------------------------------------

# The C++ sources among the requirements look for Python's headers; Debian's, unpacked
# elsewhere, are found only if the compiler is told.
export_include_path() {
  local prefix
  prefix=$("$1" -c 'import sys; print(sys.base_prefix)')
  [[ $prefix == "$BOOTSTRAP_CACHE"/* ]] || return 0
  export CPATH=$prefix/include${CPATH:+:$CPATH}
}

build_venv() {
  local venv=$1 stamp=$2 override=$3 uv python
  shift 3
  is_ready "$venv" "$stamp" && return
  python=$(ensure_python) || return 1
  uv=$(ensure_uv "$python") || return 1
  say "Setting up ${venv#"$BOOTSTRAP_ROOT"/} (once, about a minute) ..."
  rm -rf "$venv"
  quietly "$uv" venv -q --no-project --python "$python" "$venv" || return 1
  local arguments=(pip install -q --python "$venv/bin/python") file
  for file in "$@"; do arguments+=(-r "$file"); done
  if [[ -n $override ]]; then
    printf 'homeassistant==%s\n' "$override" >"$venv/override.txt"
    arguments+=(--override "$venv/override.txt")
  fi
  export_include_path "$python"
  UV_HTTP_TIMEOUT=120 quietly bounded 900 "$uv" "${arguments[@]}" || return 1
  printf '%s\n' "$stamp" >"$venv/.ready" # last, so that a broken set-up is not taken for a good one
}

is_ready() {
  [[ -f $1/.ready && $(<"$1/.ready") == "$2" ]] && "$1/bin/python" -c '' 2>/dev/null
}

# ensure_venv NAME REQUIREMENTS... [--override VERSION]: prints the environment's folder.
# VERSION is the Home Assistant to have instead of the one the requirements pin.
ensure_venv() {
  local name=$1 override='' files=() file
  shift
  while (($#)); do
    case $1 in
      --override)
        override=$2
        shift
        ;;
      *)
        file=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
        [[ -f $file ]] || fail "there is no $1."
        files+=("$file")
        ;;
    esac
    shift
  done
  local venv=$BOOTSTRAP_ROOT/.venv/$name stamp
  stamp="$BOOTSTRAP_FORMAT $venv $override ${PYTHON:-} $(cat "${files[@]}" | cksum)"
  is_ready "$venv" "$stamp" ||
    locked "$BOOTSTRAP_ROOT/.venv/lock-$name" build_venv "$venv" "$stamp" "$override" "${files[@]}" ||
    fail "$name could not be set up; what went wrong stands above."
  printf '%s\n' "$venv"
}
