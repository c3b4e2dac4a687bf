#!/usr/bin/env bash
# clang-tidy (.clang-tidy) on the files that changed, or include what changed, since it found nothing in them.
#   tidy.sh            all files of engine/
#   tidy.sh PATH…      these files, or all files of these folders (engine, fixtures, tests)
#   tidy.sh --list …   runs nothing: lists the files that would be checked
# Exit status 1: it found something; 77: it is not installed (scripts/setup.sh --tidy).
set -euo pipefail
source "$(dirname "$0")/common.sh"

if ! command -v clang-tidy >/dev/null; then
  echo "tidy.sh: clang-tidy is not installed: skipped (scripts/setup.sh --tidy)" >&2
  exit 77
fi
cmake --preset tidy >/dev/null
exec /usr/bin/python3 scripts/tidy.py --jobs "$jobs" "$@"
