#!/usr/bin/env bash
# How fast single pieces are: intervals, classes of names, all rules, JSON, starting up. Built with the optimization of a
# release; takes a minute once it is built. Options go to Google Benchmark (--benchmark_filter=Intersect).
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/setup.sh --benchmarks
configure_and_build release -DADVISE_TESTS=ON benchmarks >&2
build/release/tests/benchmarks "$@"
