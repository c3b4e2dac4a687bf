#!/usr/bin/env bash
# Makes a static site of the pages below docs/ and of the reference that the program writes (rules, facts): plain HTML with a
# search that needs no server, so that it can be read from a folder. Needs sphinx-build with the MyST parser (scripts/setup.sh
# --site installs both). Builds the program unless it is given.
#   make-site.sh [FOLDER [ADVISE]]      default: build/site
set -euo pipefail
source "$(dirname "$0")/common.sh"
site=${1:-build/site}
case "$site" in /*) ;; *) site=$PWD/$site ;; esac
# Exit status 77, as for skipped tests: the tools are not there. The parser must be one of sphinx-build's own Python.
sphinx=$(command -v sphinx-build || true)
python=
if [ -n "$sphinx" ]; then python=$(head -n 1 "$sphinx" | sed 's/^#! *//'); fi
if [ -z "$python" ] || ! $python -c 'import myst_parser' 2>/dev/null; then
  echo "make-site.sh: sphinx-build with the MyST parser is not installed: run scripts/setup.sh --site" >&2
  exit 77
fi

advise=${2:-}
if [ -z "$advise" ]; then
  configure_and_build release advise >&2
  advise=build/release/engine/app/advise
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r docs "$work/docs"
ADVISE_SHARE=$PWD XDG_CONFIG_HOME=$work "$advise" rules docs -o "$work/docs" >/dev/null
cd "$work/docs"
# The first page: what there is. Every page is reached from it, so that the sidebar and the search know all of them.
# shellcheck disable=SC2094 # it lists every page but itself
{
  echo '# advise'
  echo
  echo 'Reads the output of GPU profilers and prints a ranked list of fixes. These pages say what each rule looks for, how it'
  echo 'is measured and what to do; the search finds symptoms, calls, options and facts.'
  listed() {
    printf '\n```{toctree}\n:maxdepth: 1\n:caption: %s\n\n' "$1"
    shift
    printf '%s\n' "$@"
    printf '```\n'
  }
  folder() {
    mapfile -t pages < <(find "$1" -name '*.md' 2>/dev/null | sed 's|\.md$||' | sort)
    if [ ${#pages[@]} -gt 0 ]; then listed "$2" "${pages[@]}"; fi
  }
  folder howto 'How to'
  folder examples Examples
  mapfile -t pages < <(find . -maxdepth 1 -name '*.md' ! -name index.md | sed 's|^\./||; s|\.md$||' | sort)
  listed Overview "${pages[@]}"
  folder design 'How it decides'
  folder decisions Decisions
  for area in rules/*/; do
    [ -d "$area" ] || continue
    mapfile -t pages < <(find "$area" -name '*.md' | sed 's|//|/|; s|\.md$||' | sort)
    listed "Rules of $(basename "$area")" "${pages[@]}"
  done
} >index.md
sphinx-build -q -b html -c site -j auto . "$site"
rm -rf "$site/.doctrees" "$site/.buildinfo"
echo "make-site.sh: open $site/index.html"
