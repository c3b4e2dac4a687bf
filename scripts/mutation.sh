#!/usr/bin/env bash
# Do the tests notice when the program is changed for the worse?
#   --edges               finds numbers for the tests of rules at which a threshold decides, and writes them as their `edges`
#   --random COUNT SEED [--whole]
#                         compiles so many random changes of engine/advice and engine/metrics into one build of a copy of the
#                         tree (build/mutation), wakes one after the other, and prints those that no test of a room notices;
#                         --whole: nor the measure of accuracy, which takes minutes for each
# That each threshold is noticed is a test of its own (tests/conventions/thresholds_test.cc).
set -euo pipefail
source "$(dirname "$0")/common.sh"

usage() {
  echo "usage: scripts/mutation.sh --edges | --random COUNT SEED [--whole]" >&2
  exit 2
}

# From the fastest on: a mutant that one notices is not tried with the next.
rooms=(metrics advice facts timeline compare store cluster report grade replay)

random_mutants() {
  local count=$1 seed=$2 whole=$3 tree=$PWD/build/mutation mutate=$PWD/tests/mutation/mutate.py
  rm -rf "${tree:?}"/{engine,tests,mutants,mutants.tsv}
  mkdir -p "$tree"
  git ls-files -z | xargs -0 cp --parents --preserve=timestamps -t "$tree"
  # What a former sample changed is as old as before: without this, its mutants would stay in the objects.
  find "$tree"/engine/{advice,metrics} -name '*.cc' -exec touch {} +
  # The entry point of the tests is compiled, with what tells which mutants a test case reaches.
  sed -i 's/if(TARGET Catch2::Catch2WithMain)/if(NO)/' "$tree/tests/CMakeLists.txt"
  /usr/bin/python3 "$mutate" plan "$tree" "$count" "$seed"
  local targets=("${rooms[@]/%/_test}") commands=()
  if [ "$whole" = --whole ]; then targets+=(advise advise-sim advise-accuracy); fi
  # Bounds are checked, as the sanitizers do in CI: a loop that goes one too far is noticed.
  until (cd "$tree" && CCACHE_BASEDIR=$PWD configure_and_build dev -DADVISE_WERROR=OFF \
    "-DCMAKE_CXX_FLAGS=-w -D_GLIBCXX_ASSERTIONS" "${targets[@]}" -- -k 0) >"$tree/said" 2>&1; do
    /usr/bin/python3 "$mutate" mend "$tree" <"$tree/said" || {
      tail -n 30 "$tree/said" >&2
      exit 1
    }
  done
  for room in "${rooms[@]}"; do commands+=("build/dev/tests/${room}_test --abort"); done
  if [ "$whole" = --whole ]; then # as the test `accuracy`
    commands+=("rm -rf build/accuracy && mkdir build/accuracy && cp docs/accuracy.md build/accuracy.md &&
      build/dev/fixtures/simulator/advise-accuracy --advise build/dev/engine/app/advise --scenarios fixtures/scenarios \
        --work build/accuracy --jobs 2 --baseline docs/accuracy-baseline.toml --write-doc build/accuracy.md &&
      cmp build/accuracy.md docs/accuracy.md")
  fi
  /usr/bin/python3 "$mutate" run "$tree" "${commands[@]}"
}

case "${1:-}" in
  --edges)
    configure_and_build dev find_edges >&2
    build/dev/tests/find_edges | /usr/bin/python3 tests/mutation/add_edges.py
    ;;
  --random)
    if [ $# -lt 3 ]; then usage; fi
    random_mutants "$2" "$3" "${4:-}"
    ;;
  *) usage ;;
esac
