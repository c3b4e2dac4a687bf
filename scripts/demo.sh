#!/usr/bin/env bash
# Builds the program and lets it diagnose a simulated training run with planted faults. The first time that takes some minutes;
# every step says how far it is.
#   demo.sh [SCENARIO]
set -euo pipefail
source "$(dirname "$0")/common.sh"

echo "demo.sh: 1 of 3: packages that building needs" >&2
scripts/setup.sh --demo
echo "demo.sh: 2 of 3: the program and the simulator of runs (build/demo)" >&2
export NINJA_STATUS="compiled %f of %t, %e s: "
if ! configure_and_build demo advise advise-sim >&2; then
  # Slower, and sure: another compiler may not like what stands together in a file.
  echo "demo.sh: files of a room did not compile together; again, one by one" >&2
  configure_and_build demo -DCMAKE_UNITY_BUILD=OFF advise advise-sim >&2
fi
echo "demo.sh: 3 of 3: a simulated run, and what the program says of it" >&2

scenario=${1:-$(demo_scenario)}
build/demo/fixtures/simulator/advise-sim "$scenario" -o build/demo/demo.sqlite
echo "$ advise demo.sqlite        # simulated from $scenario"
echo
cd build/demo
engine/app/advise demo.sqlite
