#!/usr/bin/env bash
# How fast a PyTorch trace is read: megabytes of JSON a second on one core from the page cache, plain and packed, and peak
# memory an event. "Read" judges only the first fifth of a second, so that nearly all of its time is reading.
#   bench-kineto.sh [MEGABYTES] [RUNS] [TRACE.json]      default: 500 MB simulated, 5 runs
set -euo pipefail
source "$(dirname "$0")/common.sh"

megabytes=${1:-500}
runs=${2:-5}
trace=${3:-}
advise=${ADVISE:-build/release/engine/app/advise}
simulate=${SIMULATE:-build/release/fixtures/simulator/advise-sim}

if [ -z "${ADVISE:-}" ]; then
  scripts/setup.sh
  configure_and_build release advise advise-sim >&2
fi

if [ -z "$trace" ]; then
  trace=${BENCH_FOLDER:-build/release}/bench-$megabytes.pt.trace.json
  if [ ! -e "$trace" ]; then
    # A trace grows with its steps: measure a short one, then ask for as many as the size needs.
    scenario=$(demo_scenario)
    "$simulate" "$scenario" --format kineto --steps 100 -o "$trace.part"
    kilobytes_a_step=$(($(stat -c %s "$trace.part") / 100000 + 1))
    "$simulate" "$scenario" --format kineto --steps $((megabytes * 1000 / kilobytes_a_step)) -o "$trace.part"
    mv "$trace.part" "$trace"
  fi
fi
packed=$trace.gz
[ -e "$packed" ] || gzip -k -1 "$trace"
bytes=$(stat -c %s "$trace")
events=$(grep -c '"ph": *"X"' "$trace")

measure() {
  local name=$1
  shift
  time_runs "$runs" "$@"
  awk -v name="$name" -v s="$seconds" -v p="$peak_kib" -v bytes="$bytes" -v events="$events" 'BEGIN {
    printf "%-34s %7.2f s %6.0f MB/s %6d MB peak %6.0f bytes an event\n", name, s, bytes / 1e6 / s, p / 1000, p * 1024 / events }'
}

echo "$(basename "$trace"): $((bytes / 1000000)) MB, $events events, $runs runs each, medians"
cat "$trace" "$packed" >/dev/null # the page cache is warm
measure "advise, 1 job" taskset -c 0 "$advise" "$trace" --jobs 1
measure "reading, 1 job" taskset -c 0 "$advise" "$trace" --jobs 1 --window 0:0.2
measure "reading, packed, 1 job" taskset -c 0 "$advise" "$packed" --jobs 1 --window 0:0.2
measure "gzip -dc alone" taskset -c 0 gzip -dc "$packed"
