#!/usr/bin/env bash
# Another project finds the installed library with find_package(advise), wherever its folder is moved, and gets from C the
# bytes that the program prints; runs on several threads do not know of each other; errors are texts.
#   library_test.sh BUILD ADVISE ADVISE-SIM
set -euo pipefail
build=$(realpath "$1") advise=$(realpath "$2") simulate=$(realpath "$3")
source scripts/common.sh
examples=$PWD/docs/examples/library
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/none
unset ADVISE_SHARE

fail() {
  echo "library_test.sh: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
cmake -S "$examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_C_FLAGS='-Wall -Wextra -Wpedantic -Werror' -DCMAKE_CXX_FLAGS='-Wall -Wextra -Wpedantic -Werror' >"$work/said" ||
  fail "the examples are not configured: $(cat "$work/said")"
cmake --build "$work/build" >"$work/said" 2>&1 || fail "the examples are not built: $(cat "$work/said")"

# Nothing of the libraries inside is seen from outside.
archive=$(find "$work/moved" -name libadvise.a)
seen=$(nm --defined-only --extern-only "$archive" | grep -E '^[0-9a-f]+ ')
wanted='advise_(add|diagnose|error|free|json|open|set|version)'
if grep -vE " T $wanted\$" <<<"$seen"; then fail "the archive shows more than its functions"; fi

(cd "$work" && "$simulate" "$OLDPWD/$(demo_scenario)" -o demo.sqlite >/dev/null)
(cd "$work" && "$simulate" "$OLDPWD/$(demo_scenario)" --format kineto -o demo.json >/dev/null)
cd "$work"
for report in demo.sqlite demo.json; do
  "$advise" "$report" --format json >program
  build/diagnose "$report" >library || fail "$report is not read"
  cmp program library || fail "$report: the library says something else than the program"
done
"$advise" demo.sqlite --format json --top 1 >one
"$advise" demo.json --format json --top 1 >two
build/side_by_side demo.sqlite demo.json demo.sqlite demo.json >several
cat one two one two | cmp - several || fail "runs on several threads say something else"

status=0
build/diagnose none.sqlite >out 2>said || status=$?
if [ $status -ne 3 ] || [ -s out ] || ! grep -q 'none.sqlite' said; then fail "a report that is not there: $status, $(cat said)"; fi
status=0
build/diagnose >out 2>said || status=$?
if [ $status -ne 2 ] || ! grep -q 'no report was added' said; then fail "no report: $status, $(cat said)"; fi
