#!/usr/bin/env bash
# Do the tests notice when the program is changed for the worse?
#   --edges    finds numbers for the tests of rules at which a threshold decides, and writes them as their `edges`
# That each threshold is noticed is a test of its own (tests/conventions/thresholds_test.cc).
set -euo pipefail
source "$(dirname "$0")/common.sh"

case "${1:-}" in
  --edges)
    configure_and_build dev find_edges >&2
    build/dev/tests/find_edges | /usr/bin/python3 tests/mutation/add_edges.py
    ;;
  *)
    echo "usage: scripts/mutation.sh --edges" >&2
    exit 2
    ;;
esac
