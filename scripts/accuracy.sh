#!/usr/bin/env bash
# How often the advice is right: runs the program on every simulated scenario, whose planted faults
# and true savings are known, and prints the score. Options are handed to advise-accuracy.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/setup.sh
configure_and_build release advise advise-sim advise-accuracy >&2
mkdir -p build/accuracy
exec build/release/fixtures/simulator/advise-accuracy --advise build/release/engine/app/advise \
  --scenarios fixtures/scenarios --work build/accuracy "$@"
