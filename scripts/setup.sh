#!/usr/bin/env bash
# Installs the packages that building and testing need (Debian, Ubuntu). Does nothing when they are
# all there. Run as root, or as a user who may use sudo.
#   --demo       only what building the program needs
#   --sanitizers clang and the library of its sanitizers, too
#   --tidy       clang-tidy, too
#   --static     what scripts/static-libraries.sh needs, too
#   --benchmarks Google Benchmark, too, for scripts/bench-pieces.sh
#   --torch      PyTorch, too: the tests of the Python package profile with it, and skip that where it cannot be had
#   --browser    Chromium, too: the tests open HTML reports in it, and skip that where it cannot be had
#   --mcp        the official clients of the Model Context Protocol, too, from npm into build/mcp-clients: a test drives
#                `advise mcp` with them, and skips that where Node.js, npm or the network are missing
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libfmt-dev libsqlite3-dev libsqlitecpp-dev libtomlplusplus-dev
  nlohmann-json3-dev libcli11-dev libexpected-dev liblua5.4-dev
  libsimdjson-dev libisal-dev libprotobuf-dev zlib1g-dev libzstd-dev
  node-d3
)
development=(
  ccache catch2 libvalijson-dev sqlite3 time codespell shellcheck cppcheck lmod
  python3-setuptools python3-wheel python3-venv python3-yaml python3-pyflakes
)
sanitizers=no
browser=no
torch=no
mcp=no
# What tests/app/mcp_client.mjs was written for.
mcp_clients=(@modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0)
for option in "$@"; do
  case "$option" in
    --demo) development=() ;;
    --sanitizers) sanitizers=yes && packages+=(clang) ;;
    --tidy) packages+=(clang clang-tidy) ;;
    --browser) browser=yes ;;
    --torch) torch=yes ;;
    --mcp) mcp=yes ;;
    --benchmarks) packages+=(libbenchmark-dev) ;; # only for scripts/bench-pieces.sh
    --static) packages+=(dpkg-dev nasm make) ;; # only for scripts/static-libraries.sh
    --site) packages+=(python3-sphinx python3-myst-parser) ;; # only for scripts/make-site.sh
    *)
      echo "usage: scripts/setup.sh [--demo] [--sanitizers] [--tidy] [--browser] [--mcp] [--torch] [--static] [--site] [--benchmarks]" >&2
      exit 2
      ;;
  esac
done

as_root=()
export DEBIAN_FRONTEND=noninteractive

# install PACKAGE…: the package lists may be missing or old, they are refreshed only when needed.
install() {
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup.sh: run as root, or install: $*" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "setup.sh: installing $*" >&2
  fetch_and_unpack "$@" || {
    echo "setup.sh: refreshing the lists of packages" >&2
    "${as_root[@]}" apt-get update -qq >/dev/null
    fetch_and_unpack "$@"
  }
}

# fetch_and_unpack PACKAGE…: says how far it is, by packages, dependencies among them. Fails when the lists are missing or old.
fetch_and_unpack() {
  local count
  count=$(apt-get install -s -qq --no-install-recommends "$@" 2>/dev/null | grep -c '^Inst') || return 1
  echo "setup.sh: $count packages, with what they depend on" >&2
  local fetched=0 unpacked=0 done=0
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" 2>&1 </dev/null | while read -r line; do
    case "$line" in
      Get:*) say_progress fetched $((fetched += 1)) "$count" ;;
      "Unpacking "*) say_progress unpacked $((unpacked += 1)) "$count" ;;
      "Setting up "*) say_progress installed $((done += 1)) "$count" ;;
      E:* | "dpkg: error"*) echo "$line" ;;
    esac
  done >&2
}

# say_progress WHAT N COUNT: the first, every tenth, and the last.
say_progress() {
  if [ "$2" -eq 1 ] || [ $(($2 % 10)) -eq 0 ] || [ "$2" -eq "$3" ]; then echo "setup.sh: $1 $2 of $3"; fi
}

missing=()
for package in "${packages[@]}" "${development[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  case "$status" in ii*) ;; *) missing+=("$package") ;; esac
done
if [ ${#missing[@]} -gt 0 ]; then install "${missing[@]}"; fi

# The library has the compiler's version in its name.
if [ $sanitizers = yes ]; then
  runtime=libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev
  if apt-cache show "$runtime" >/dev/null 2>&1; then
    dpkg-query --show --showformat='${db:Status-Abbrev}' "$runtime" 2>/dev/null | grep -q '^ii' || install "$runtime"
  fi
fi

# A large package for a few tests: no reason to fail.
if [ $browser = yes ] && ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
  install chromium || echo "setup.sh: no Chromium: the tests in a browser will be skipped" >&2
fi
if [ $torch = yes ] && ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
  install python3-torch || echo "setup.sh: no PyTorch: the tests that profile with it will be skipped" >&2
fi

# install_clients FOLDER: once for each list of versions. What failed half way leaves no file "versions".
install_clients() {
  local wanted="${mcp_clients[*]}"
  if [ "$(cat "$1/versions" 2>/dev/null)" = "$wanted" ]; then return 0; fi
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "setup.sh: Node.js or npm is missing" >&2
    return 1
  fi
  rm -rf "$1"
  mkdir -p "$1"
  echo "setup.sh: fetching $wanted" >&2
  npm install --prefix "$1" --no-audit --no-fund --ignore-scripts --loglevel=error "${mcp_clients[@]}" >&2 || return 1
  echo "$wanted" >"$1/versions"
}
if [ $mcp = yes ]; then
  install_clients "$(dirname "$0")/../build/mcp-clients" ||
    echo "setup.sh: no clients of the Model Context Protocol: their test will be skipped" >&2
fi
