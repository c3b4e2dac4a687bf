#!/usr/bin/env bash
# Builds the program and lets it diagnose a simulated training run with planted faults.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/setup.sh
configure_and_build release advise advise-sim

scenario=${1:-$(ls fixtures/scenarios/demo.toml fixtures/scenarios/transfer/*.toml 2>/dev/null | head -n 1)}
build/release/fixtures/simulator/advise-sim "$scenario" -o build/release/demo.sqlite
echo "$ advise demo.sqlite        # simulated from $scenario"
echo
cd build/release
engine/app/advise demo.sqlite
