# Shared by the scripts of this folder: sourced, not run.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CTEST_OUTPUT_ON_FAILURE=1
# Precompiled headers are safe to cache: compilers and flags are the project's own.
export CCACHE_SLOPPINESS=pch_defines,time_macros
jobs=2

# configure_and_build PRESET [TARGET…]: with ccache when there is one.
configure_and_build() {
  local preset=$1
  shift
  local options=()
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake --preset "$preset" "${options[@]}" >/dev/null
  local targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  cmake --build "build/$preset" -j "$jobs" "${targets[@]}"
}

# The scenario that demonstrations and measurements simulate: two faults, one behind the other.
demo_scenario() { echo fixtures/scenarios/pairs/loading-over-pageable.toml; }
