# Shared by the scripts of this folder: sourced, not run.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
export CTEST_OUTPUT_ON_FAILURE=1
# Precompiled headers are safe to cache: compilers and flags are the project's own.
export CCACHE_SLOPPINESS=pch_defines,time_macros
jobs=2

# configure_and_build PRESET [-DNAME=VALUE…] [TARGET…]: with ccache when there is one.
configure_and_build() {
  local preset=$1
  shift
  local options=()
  while [[ "${1:-}" == -D* ]]; do
    options+=("$1")
    shift
  done
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake --preset "$preset" "${options[@]}" >/dev/null || return
  local targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  cmake --build "build/$preset" -j "$jobs" "${targets[@]}"
}

# The version of the project: that of CMakeLists.txt.
project_version() { sed -n 's/^project(advise VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt; }

# The scenario that demonstrations and measurements simulate: two faults, one behind the other.
demo_scenario() { echo fixtures/scenarios/pairs/loading-over-pageable.toml; }

# time_runs RUNS COMMAND…: runs it so often; sets `seconds` to the median of the wall clock and `peak_kib` to the highest
# peak memory. Ends the script when a run fails, with what it said.
time_runs() {
  local runs=$1
  shift
  local times said
  times=$(mktemp)
  said=$(mktemp)
  for _ in $(seq "$runs"); do
    /usr/bin/time -f '%e %M' -a -o "$times" "$@" >/dev/null 2>"$said" || {
      echo "failed: $*" >&2
      cat "$said" >&2
      exit 1
    }
  done
  # shellcheck disable=SC2034  # for the caller
  seconds=$(awk '{ print $1 }' "$times" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')
  # shellcheck disable=SC2034
  peak_kib=$(awk '{ print $2 }' "$times" | sort -n | tail -n 1)
  rm -f "$times" "$said"
}
