#!/usr/bin/env bash
# The program needs nothing but the C library, and the static one nothing at all: both diagnose the demo and reports that
# take them through every library that was linked, in roots that hold nothing else, and print what they print here.
#   one_file_test.sh ADVISE ADVISE-STATIC ADVISE-SIM
set -euo pipefail
advise=$(realpath "$1") static=$(realpath "$2") simulate=$(realpath "$3")
source scripts/common.sh
unset ADVISE_SHARE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/none

fail() {
  echo "one_file_test.sh: $*" >&2
  exit 1
}

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
enter=(chroot)
if ! chroot "$work/empty" /advise --version >/dev/null 2>&1; then enter=(unshare -r chroot); fi
if ! "${enter[@]}" "$work/empty" /advise --version >/dev/null 2>&1; then
  echo "skipped: chroot is not permitted here" >&2
  exit 77
fi

# Inputs for SQLite, simdjson and ISA-L; zlib and zstd by a facts file; Lua and the knowledge always; real captures, too.
scenario=$(demo_scenario)
mkdir "$work/inputs"
"$simulate" "$scenario" -o "$work/inputs/demo.sqlite" >/dev/null
"$simulate" "$scenario" --format kineto -o "$work/inputs/demo.json" >/dev/null
gzip -n "$work/inputs/demo.json"
"$advise" facts "$work/inputs/demo.sqlite" -o "$work/inputs/demo.facts" >/dev/null
traces=${ADVISE_TRACES:-../shared/traces}
if [ -d "$traces" ]; then
  count=0
  while read -r capture; do
    count=$((count + 1))
    cp "$capture" "$work/inputs/capture-$count-$(basename "$capture")"
  done < <(for ending in sqlite trace.json.gz ncu-rep; do
    find "$traces" -name "*.$ending" -size -4M | LC_ALL=C sort | head -n 1
  done)
else
  echo "without real captures: there is no $traces" >&2
fi

for root in libc empty; do
  cp -r "$work/inputs" "$work/$root/inputs"
  for input in "$work"/inputs/*; do
    name=inputs/$(basename "$input")
    (cd "$work" && "$advise" "$name" --jobs 2) >"$work/here" || fail "$name is not read here"
    "${enter[@]}" "$work/$root" /advise "$name" --jobs 2 >"$work/there" || fail "$name is not read in a root of $root"
    cmp "$work/here" "$work/there" || fail "$name: another report in a root of $root"
  done
  "${enter[@]}" "$work/$root" /advise scrub inputs/demo.json.gz -o clean.json.gz >/dev/null
  gzip -t "$work/$root/clean.json.gz"
done

# Alone under a launcher the static program works; as one of several it says why not.
SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0 "$static" --version >/dev/null
if OMPI_COMM_WORLD_SIZE=2 "$static" --version 2>"$work/said"; then fail "the static program joins others"; fi
grep -q "cannot load MPI" "$work/said" || fail "says: $(cat "$work/said")"
