#!/usr/bin/env bash
# The Python package, as a wheel in environments that hold nothing else, on traces that the simulator makes; then with Debian's
# PyTorch, where it is installed.
#   python_test.sh ADVISE ADVISE-SIM
set -euo pipefail
program=$(realpath "$1") simulate=$(realpath "$2")
source scripts/common.sh
unset ADVISE_SHARE ADVISE_PROGRAM PYTHONPATH
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/none PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3

if ! $python -c 'import setuptools, wheel, venv, ensurepip' 2>/dev/null; then
  echo "skipped: python3-setuptools, python3-wheel and python3-venv are needed" >&2
  exit 77
fi
export SOURCE_DATE_EPOCH=1700000000
wheel=$(scripts/make-wheel.sh "$program" "$work/wheels")
case "$wheel" in *-py3-none-*linux*_"$(uname -m)".whl) ;; *) echo "another name: $wheel" >&2 && exit 1 ;; esac
again=$(scripts/make-wheel.sh "$program" "$work/again")
cmp "$wheel" "$again"
bare=$(scripts/make-wheel.sh none "$work/bare")
case "$bare" in *-py3-none-any.whl) ;; *) echo "another name: $bare" >&2 && exit 1 ;; esac

# A program without an interpreter of its own runs on any Linux; no other file is taken for a program.
if command -v gcc >/dev/null && echo 'int main(void) { return 0; }' | gcc -static -x c - -o "$work/static" 2>/dev/null; then
  any=$(scripts/make-wheel.sh "$work/static" "$work/any")
  case "$any" in *-py3-none-manylinux2014_"$(uname -m)".whl) ;; *) echo "another name: $any" >&2 && exit 1 ;; esac
fi

(
  cd "$work"
  "$simulate" "$root/$(demo_scenario)" -o demo.sqlite
  "$simulate" "$root/fixtures/scenarios/ranks/uneven-compute.toml" --ranks 4 --format kineto --per-rank ranks
) >/dev/null
export ADVISE_TEST_DEMO=$work/demo.sqlite ADVISE_TEST_RANKS=$work/ranks

# in_environment NAME WHEEL [OPTION…]: an environment of that name with that wheel, not fetched from anywhere.
in_environment() {
  local name=$1 file=$2
  shift 2
  $python -m venv "$@" "$work/$name"
  "$work/$name/bin/python" -m pip install -q --no-index --no-deps --disable-pip-version-check "$file"
}

in_environment alone "$wheel"
[ "$(env -i "$work/alone/bin/advise" --version)" = "$("$program" --version)" ]
(cd python/tests && "$work/alone/bin/python" -W error -m unittest -q test_report test_ranks test_frameworks)

# Without a program in the wheel: that on PATH, and a sentence that helps where there is none.
in_environment bare "$bare"
[ ! -e "$work/bare/bin/advise" ]
mkdir "$work/path"
ln -s "$program" "$work/path/advise"
(cd "$work" && PATH=$work/path:/usr/bin:/bin bare/bin/python -c 'import advise; assert advise.read("demo.sqlite").findings')
said=$(cd "$work" && PATH=/nowhere "$work/bare/bin/python" -m advise --version 2>&1) && exit 1
case "$said" in "advise: the program advise was not found"*"ADVISE_PROGRAM") ;; *) echo "said: $said" >&2 && exit 1 ;; esac

# What the pages show runs as it stands.
"$work/alone/bin/python" python/tests/run_examples.py docs/howto/python.md "$work/demo.sqlite" >"$work/said"
grep -q '1 blocks ran' "$work/said"

if $python -c 'import torch' 2>/dev/null; then
  in_environment torch "$wheel" --system-site-packages
  (cd python/tests && "$work/torch/bin/python" -m unittest -q test_torch)
  "$work/torch/bin/python" python/tests/run_examples.py docs/howto/python.md "$work/demo.sqlite" >"$work/said"
  grep -q '3 blocks ran' "$work/said"
else
  echo "without PyTorch (python3-torch): its tests were skipped" >&2
fi
