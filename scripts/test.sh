#!/usr/bin/env bash
# Everything that must hold before a change is merged: build without warnings, all tests (an index out of bounds or an
# overflow ends them), and the tests of what reads files under AddressSanitizer and UndefinedBehaviorSanitizer.
#   --quick    without the sanitizers
#   --all      the sanitizers on the unit tests of every room
#   --threads  the unit tests under ThreadSanitizer, too
#   --tidy     clang-tidy, too
#   --fuzz     a minute of fuzzing, too, where clang has libFuzzer
#   --accept   rewrite the golden files from what the program says now; read the diff
set -euo pipefail
source "$(dirname "$0")/common.sh"

quick=no
all=no
fuzz=no
threads=no
tidy=no
for option in "$@"; do
  case "$option" in
    --quick) quick=yes ;;
    --all) all=yes ;;
    --tidy) tidy=yes ;;
    --fuzz) fuzz=yes ;;
    --threads) threads=yes ;;
    --accept) export ADVISE_ACCEPT=1 ;;
    *)
      echo "usage: scripts/test.sh [--quick] [--all] [--threads] [--tidy] [--fuzz] [--accept]" >&2
      exit 2
      ;;
  esac
done

packages=(--browser --mcp --torch)
if [ $quick = no ]; then packages+=(--sanitizers); fi
if [ $tidy = yes ]; then packages+=(--tidy); fi
scripts/setup.sh "${packages[@]}"
# Without them the program is no single file, and its test is left out. They are made beside the first build.
scripts/static-libraries.sh || echo "test.sh: no archives of all libraries: the test of the one file is left out" >&2 &
archives=$!

# What reads files is tested under the sanitizers, and not a second time without them. The tests of `import` make the seeds
# for fuzzing: the other build takes theirs.
sanitized=(base trace knowledge import)
elsewhere=
seeds=
beside=
if [ $quick = no ] && [ $all = no ]; then
  configure_and_build asan -DADVISE_STATIC=OFF "${sanitized[@]/%/_test}" smoke_readers
  # The longest of them wait for each other: the other build has the second core meanwhile.
  echo "test.sh: the tests under the sanitizers run beside the next build" >&2
  ctest --preset asan -R "^($(IFS='|' && echo "${sanitized[*]}")|fuzz-readers)\$" >build/asan/tests.log 2>&1 &
  beside=$!
  trap 'kill $beside 2>/dev/null || true' EXIT
  elsewhere=$(IFS=';' && echo "${sanitized[*]}")
  seeds=$PWD/build/asan/tests/seeds
elif [ $quick = no ]; then
  configure_and_build asan -DADVISE_STATIC=OFF unit_tests
  ctest --preset asan
fi
wait $archives
configure_and_build dev "-DADVISE_TESTED_ELSEWHERE=$elsewhere" "-DADVISE_SEEDS=$seeds"
if [ -n "$beside" ]; then
  status=0
  wait $beside || status=$?
  cat build/asan/tests.log
  trap - EXIT
  [ $status = 0 ] || exit $status
fi
ctest --preset dev
if [ $threads = yes ]; then
  configure_and_build tsan unit_tests
  ctest --preset tsan
fi
if [ $tidy = yes ]; then scripts/tidy.sh; fi
if [ $fuzz = yes ]; then scripts/fuzz.sh --ci || [ $? -eq 77 ]; fi
echo "test.sh: all good"
