#!/usr/bin/env bash
# What other programs find wrong without running anything. Exit status 77: the tool is not here (scripts/setup.sh).
#   lint.sh shell     shellcheck, on every shell script of the repository
#   lint.sh engine    cppcheck, on every file of engine/: warnings, performance, portability
set -euo pipefail
source "$(dirname "$0")/common.sh"

# units FOLDER: writes FOLDER/<room>-<n>.cc, each of which includes 48 files of a room of engine/: what many of them include
# is read once for all.
units() {
  local room
  for room in engine/*/; do
    find "$room" -name '*.cc' -printf '#include "%p"\n' | sort | split -l 48 -d --additional-suffix=.cc - "$1/$(basename "$room")-"
  done
}

# need TOOL: ends the script where it is missing.
need() {
  if ! command -v "$1" >/dev/null; then
    echo "lint.sh: $1 is not installed: skipped (scripts/setup.sh installs it)" >&2
    exit 77
  fi
}

# shell_scripts: by their first line, whatever their names; in a copy without Git, too.
shell_scripts() {
  find . -type f -not -path './build*' -not -path './.git/*' -size -200k -print0 |
    xargs -0 grep -lIzE '^#!(/usr/bin/env |/bin/|/usr/bin/)(ba|da)?sh' | sort
  echo scripts/common.sh
}

case "${1:-}" in
  shell)
    need shellcheck
    mapfile -t scripts < <(shell_scripts)
    shellcheck --external-sources --source-path=SCRIPTDIR --shell=bash "${scripts[@]}"
    echo "lint.sh: shellcheck finds nothing in ${#scripts[@]} scripts"
    ;;
  engine)
    need cppcheck
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    units "$folder"
    # Defined: macros of nlohmann-json that cppcheck cannot read. Not asked: what cppcheck 2.10 misjudges here, and g++ or
    # clang-tidy judges well (moved values, statements without effect, arrays of names); shifts of signed values, which
    # C++20 defines; gap.h, where two classes have a struct Row of their own; summary_json.cc, where a reference to the last
    # row ends with the turn of the loop.
    cppcheck --language=c++ --std=c++20 --enable=warning,performance,portability --inline-suppr --quiet -j "$jobs" -I . \
      '-DADVISE_VERSION=""' '-DNLOHMANN_JSON_SERIALIZE_ENUM(...)=' '-DNLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(...)=' \
      --suppress=accessMoved --suppress=constStatement --suppress=CastIntegerToAddressAtReturn \
      --suppress=shiftTooManyBitsSigned --suppress=uninitStructMember:engine/timeline/gap.h \
      --suppress=invalidContainerReference:engine/store/summary_json.cc \
      --template='{file}:{line}: {severity}: {message} [{id}]' --error-exitcode=1 "$folder"
    echo "lint.sh: cppcheck finds nothing in engine/"
    ;;
  *)
    echo "usage: scripts/lint.sh shell|engine" >&2
    exit 2
    ;;
esac
