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

# The floor: every column that reading takes from the large tables, read once by the shell of the
# database itself (tests/conventions compares these lists with the reader's). Two floors, since
# another program could do with less: times, places and names alone, and all of them.
# total(), not sum(): packed thread ids overflow integers.
columns_of() { # TABLE COLUMN…: those that the table has, as a list of totals
  local table=$1 wanted
  shift
  wanted=$(printf "'%s', " "$@")
  sqlite3 -readonly "$report" "select group_concat('total(\"' || name || '\")', ', ')
    from pragma_table_info('$table') where name in (${wanted%, })"
}
few="" all=""
add_sum() { # TABLE "COLUMNS…" "MORE COLUMNS…"
  local totals
  read -ra columns <<<"$2"
  totals=$(columns_of "$1" "${columns[@]}")
  if [ -n "$totals" ]; then few+="select $totals from $1; "; fi
  read -ra columns <<<"$2 $3"
  totals=$(columns_of "$1" "${columns[@]}")
  if [ -n "$totals" ]; then all+="select $totals from $1; "; fi
}
add_sum CUPTI_ACTIVITY_KIND_KERNEL \
  "start end deviceId streamId correlationId globalPid demangledName gridX blockX" \
  "contextId graphNodeId shortName mangledName gridY gridZ blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory localMemoryPerThread"
add_sum CUPTI_ACTIVITY_KIND_MEMCPY \
  "start end bytes copyKind srcKind dstKind correlationId" \
  "deviceId contextId streamId globalPid graphNodeId srcDeviceId dstDeviceId"
add_sum CUPTI_ACTIVITY_KIND_MEMSET \
  "start end bytes correlationId" \
  "deviceId contextId streamId globalPid graphNodeId memKind"
add_sum CUPTI_ACTIVITY_KIND_RUNTIME "start end globalTid correlationId nameId returnValue" ""
add_sum CUPTI_ACTIVITY_KIND_SYNCHRONIZATION \
  "" "start end deviceId contextId streamId correlationId globalPid eventId"
add_sum OSRT_API "start end globalTid nameId" ""
add_sum NVTX_EVENTS \
  "start end globalTid textId" \
  "eventType text domainId int64Value uint64Value int32Value uint32Value"

measure() {
  local name=$1
  shift
  time_runs "$runs" "$@"
  printf '%-34s %8.2f s   %6d MB peak\n' "$name" "$seconds" $((peak_kib / 1000))
}

echo "$(basename "$report"): $(size_mb "$report") MB, $runs runs each, medians"
cat "$report" >/dev/null # the page cache is warm for both
measure "sqlite3, few columns summed" sqlite3 -readonly "$report" "$few"
few_seconds=$seconds
measure "sqlite3, all needed columns summed" sqlite3 -readonly "$report" "$all"
all_seconds=$seconds
measure "advise, 1 job" "$advise" "$report" --jobs 1
one=$seconds
measure "advise, 2 jobs" "$advise" "$report" --jobs 2
two=$seconds
measure "advise rules list (start-up)" "$advise" rules list
awk -v few="$few_seconds" -v all="$all_seconds" -v one="$one" -v two="$two" 'BEGIN {
  if (few <= 0) few = 0.01
  if (all <= 0) all = 0.01
  printf "ratio to all needed columns: %.2f with 1 job, %.2f with 2 jobs\n", one / all, two / all
  printf "ratio to few columns: %.2f with 1 job, %.2f with 2 jobs\n", one / few, two / few }'
