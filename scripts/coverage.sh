#!/usr/bin/env bash
# Which lines of engine/ do the tests run? Builds all with gcov's counters (build/coverage), runs the tests, and prints the share
# of each room.
#   --record   writes the table of docs/reliability.md, too
#   --report   no build and no tests: prints what the last tests ran, and writes each line that none ran to
#              build/coverage/missed.txt
set -euo pipefail
source "$(dirname "$0")/common.sh"

record=no
run=yes
for option in "$@"; do
  case "$option" in
    --record) record=yes ;;
    --report) run=no ;;
    *)
      echo "usage: scripts/coverage.sh [--record] [--report]" >&2
      exit 2
      ;;
  esac
done

folder=build/coverage
if [ $run = yes ]; then
  configure_and_build coverage unit_tests app_test >&2
  find $folder -name '*.gcda' -delete
  # Without what measures the advice, installs it or looks at files alone: those tests say little of lines.
  ctest --preset coverage >&2 || echo "coverage.sh: some tests failed: what they did not reach counts as not run" >&2
fi

table=$(mktemp)
trap 'rm -f "$table"' EXIT
/usr/bin/python3 scripts/coverage_table.py $folder >"$table"
cat "$table"
if [ $record = yes ]; then
  sed -i -e "/<!-- coverage: begin -->/r $table" -e '/<!-- coverage: begin -->/,/<!-- coverage: end -->/{/^|/d}' \
    docs/reliability.md
fi
