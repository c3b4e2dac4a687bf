#!/usr/bin/env bash
# Builds the program and lets it diagnose a simulated training run with planted faults.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/setup.sh
configure_and_build release advise advise-sim

scenario=${1:-$(demo_scenario)}
build/release/fixtures/simulator/advise-sim "$scenario" -o build/release/demo.sqlite
echo "$ advise demo.sqlite        # simulated from $scenario"
echo
cd build/release
engine/app/advise demo.sqlite
