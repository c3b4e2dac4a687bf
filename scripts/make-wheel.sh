#!/usr/bin/env bash
# Makes the Python package (a wheel) from python/ and a program. Needs no network.
#   make-wheel.sh PROGRAM OUT     the wheel goes into the folder OUT; with "none" for PROGRAM it holds no program
# The same files and SOURCE_DATE_EPOCH give the same bytes. A program of the preset `package` runs on any Linux of its kind of
# machine, and so does its wheel.
set -euo pipefail
if [ $# -ne 2 ]; then
  echo "usage: scripts/make-wheel.sh PROGRAM|none OUT" >&2
  exit 2
fi
program=$1
mkdir -p "$2"
out=$(realpath "$2")
[ "$program" = none ] || program=$(realpath "$program")
source "$(dirname "$0")/common.sh"
# Debian's, whatever other Python is first on PATH.
python=/usr/bin/python3
[ -x $python ] || python=python3
$python -c 'import setuptools, wheel' 2>/dev/null || { echo "make-wheel.sh: install python3-setuptools and python3-wheel" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r python "$work/python"
rm -rf "$work/python/tests"
cp LICENSE "$work/python"
find "$work/python" -name __pycache__ -prune -exec rm -rf {} +
version=$(project_version)
bundle=
if [ "$program" != none ]; then
  bundle=$work/advise
  strip -o "$bundle" "$program"
  # Licenses of what is linked, where Debian's packages say them.
  while read -r package _; do
    if [ -e "/usr/share/doc/$package/copyright" ]; then
      printf '== %s ==\n' "$package" && cat "/usr/share/doc/$package/copyright"
    fi
  done < <(grep -v '^#' packaging/linked.txt) >"$work/python/LICENSE.linked"
fi
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH
umask 022
(cd "$work/python" && ADVISE_BUNDLE=$bundle ADVISE_VERSION=$version $python setup.py -q bdist_wheel --dist-dir "$out" >"$work/said" 2>&1) ||
  { cat "$work/said" >&2; exit 1; }
find "$out" -name "gpu_advise-$version-*.whl" -newer "$work/python/pyproject.toml"
