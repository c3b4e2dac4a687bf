#!/usr/bin/env bash
# Installs the packages that building and testing need (Debian, Ubuntu). Does nothing when they are
# all there. Run as root, or as a user who may use sudo.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config ccache
  libfmt-dev libsqlite3-dev libsqlitecpp-dev libtomlplusplus-dev
  nlohmann-json3-dev libcli11-dev libexpected-dev liblua5.4-dev
  libprotobuf-dev
  catch2 libvalijson-dev sqlite3 time
)
if [ "${1:-}" = --tidy ]; then packages+=(clang clang-tidy); fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  case "$status" in ii*) ;; *) missing+=("$package") ;; esac
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: run as root, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup.sh: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
install=("${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}")
# The package lists may be missing or old: refresh them only when needed.
"${install[@]}" >/dev/null 2>&1 || {
  "${as_root[@]}" apt-get update -qq >/dev/null
  "${install[@]}" >/dev/null
}
