#!/usr/bin/env bash
# The program needs nothing but the C library, and the static one nothing at all: both diagnose the demo and reports that
# take them through every library that was linked, in roots that hold nothing else, and print what they print here.
#   one_file_test.sh ADVISE ADVISE-STATIC ADVISE-SIM
set -euo pipefail
advise=$(realpath "$1") static=$(realpath "$2") simulate=$(realpath "$3")
source scripts/common.sh
source tests/install/roots.sh
unset ADVISE_SHARE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/none

needed=$(readelf -d "$advise" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
  case "$library" in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*) ;;
    *) fail "$advise needs $library" ;;
  esac
done
if readelf -d "$advise" | grep -qE 'RPATH|RUNPATH'; then fail "$advise looks for libraries in a folder"; fi
if readelf -d "$static" | grep -q NEEDED; then fail "$static needs a library"; fi
if readelf -l "$static" | grep -q INTERP; then fail "$static needs a dynamic linker"; fi

# Two systems: one of the C library alone, one of nothing.
mkdir -p "$work/libc" "$work/empty"
cp "$advise" "$work/libc/advise"
cp "$static" "$work/empty/advise"
for library in $(ldd "$advise" | grep -oE '/[^ ]+'); do
  mkdir -p "$work/libc$(dirname "$library")"
  cp -L "$library" "$work/libc$library"
done
find_way_in "$work/empty" /advise
make_inputs
for root in libc empty; do same_in "$work/$root" /advise; done

# Alone under a launcher the static program works; as one of several it says why not.
SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0 "$static" --version >/dev/null
if OMPI_COMM_WORLD_SIZE=2 "$static" --version 2>"$work/said"; then fail "the static program joins others"; fi
grep -q "cannot load MPI" "$work/said" || fail "says: $(cat "$work/said")"
