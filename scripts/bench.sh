#!/usr/bin/env bash
# How fast: `advise` on a large report against the sqlite3 shell summing the columns it needs, from
# the same file. Prints medians, their ratio, peak memory, and the time to start.
#   bench.sh [MEGABYTES] [RUNS] [REPORT.sqlite]      default: 500 MB simulated, 5 runs
set -euo pipefail
source "$(dirname "$0")/common.sh"

megabytes=${1:-500}
runs=${2:-5}
report=${3:-}

scripts/setup.sh
configure_and_build release advise advise-sim >&2
advise=build/release/engine/app/advise
simulate=build/release/fixtures/simulator/advise-sim

size_mb() { echo $(($(stat -c %s "$1") / 1000000)); }

if [ -z "$report" ]; then
  report=build/release/bench-$megabytes.sqlite
  scenario=$(demo_scenario)
  if [ ! -e "$report" ]; then
    # A report grows with its steps: measure a short one, then ask for as many as the size needs.
    "$simulate" "$scenario" --steps 100 -o "$report.part"
    kilobytes_a_step=$(($(stat -c %s "$report.part") / 100000 + 1))
    "$simulate" "$scenario" --steps $((megabytes * 1000 / kilobytes_a_step)) -o "$report.part"
    mv "$report.part" "$report"
  fi
fi

has_table() { [ "$(sqlite3 -readonly "$report" "select count(*) from sqlite_master where name = '$1'")" = 1 ]; }

# The floor: every column that a diagnosis reads, read once by the shell of the database itself.
# total(), not sum(): packed thread ids overflow integers.
sums=""
add_sum() { if has_table "$1"; then sums+="select $2 from $1; "; fi; }
add_sum CUPTI_ACTIVITY_KIND_KERNEL "total(start), total(end), total(deviceId), total(streamId), total(correlationId), total(globalPid), total(demangledName), total(gridX), total(blockX)"
add_sum CUPTI_ACTIVITY_KIND_MEMCPY "total(start), total(end), total(bytes), total(copyKind), total(srcKind), total(dstKind), total(correlationId)"
add_sum CUPTI_ACTIVITY_KIND_MEMSET "total(start), total(end), total(bytes), total(correlationId)"
add_sum CUPTI_ACTIVITY_KIND_RUNTIME "total(start), total(end), total(globalTid), total(correlationId), total(nameId), total(returnValue)"
add_sum OSRT_API "total(start), total(end), total(globalTid), total(nameId)"
add_sum NVTX_EVENTS "total(start), total(end), total(globalTid), total(textId)"

measure() {
  local name=$1
  shift
  time_runs "$runs" "$@"
  printf '%-34s %8.2f s   %6d MB peak\n' "$name" "$seconds" $((peak_kib / 1000))
}

echo "$(basename "$report"): $(size_mb "$report") MB, $runs runs each, medians"
cat "$report" >/dev/null # the page cache is warm for both
measure "sqlite3, needed columns summed" sqlite3 -readonly "$report" "$sums"
floor=$seconds
measure "advise, 1 job" "$advise" "$report" --jobs 1
one=$seconds
measure "advise, 2 jobs" "$advise" "$report" --jobs 2
two=$seconds
measure "advise rules list (start-up)" "$advise" rules list
awk -v floor="$floor" -v one="$one" -v two="$two" 'BEGIN {
  if (floor <= 0) floor = 0.01
  printf "ratio to sqlite3: %.2f with 1 job, %.2f with 2 jobs\n", one / floor, two / floor }'
