#!/usr/bin/env bash
# Measures a run of many ranks: simulates N ranks, keeps each as a facts file, and judges the folder.
# Usage: scripts/scale.sh [BUILD] [N…]    (default: build/release, 8 64 256 1024)
# Prints a line for each N: seconds and peak memory of the final report, bytes a facts file.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
shift || true
counts=("${@:-}")
if [ -z "${counts[0]}" ]; then counts=(8 64 256 1024); fi
advise=$build/engine/app/advise
simulator=$build/fixtures/simulator/advise-sim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%6s %10s %12s %14s  %s\n' ranks seconds 'memory MiB' 'bytes a file' 'first finding'
for count in "${counts[@]}"; do
  sed "s/^ranks = .*/ranks = $count/" fixtures/scale/straggler.toml >"$work/scenario.toml"
  "$simulator" "$work/scenario.toml" --per-rank "$work/reports" --ranks-per-node 8 --clock-ms 3 --drift-us 200
  "$advise" facts "$work/reports" -o "$work/facts/" --progress never
  rm -rf "$work/reports"
  bytes=$(du -sb "$work/facts" | cut -f1)
  /usr/bin/time -f '%e %M' -o "$work/time" "$advise" "$work/facts" --format json -o "$work/report.json" --progress never
  read -r seconds kib <"$work/time"
  first=$(sed -n 's/^ *"rule": "\(.*\)",$/\1/p' "$work/report.json" | head -1)
  printf '%6s %10s %12s %14s  %s\n' "$count" "$seconds" $((kib / 1024)) $((bytes / count)) "$first"
  rm -rf "$work/facts"
done
