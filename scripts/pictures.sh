#!/usr/bin/env bash
# Draws the pictures of README.md from the report of the demo: docs/pictures/terminal.svg, and docs/pictures/report.png where
# there is a Chromium; docs/examples/report.md is the same report as Markdown, docs/examples/report.html the page of that
# Chromium without its scripts. Builds the program and the simulator unless they are given.
#   pictures.sh [--check] [ADVISE ADVISE-SIM]     --check: write nothing, fail if what is text is stale
set -euo pipefail
source "$(dirname "$0")/common.sh"

check=no
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
advise=${1:-}
simulate=${2:-}
if [ -z "$advise" ]; then
  scripts/setup.sh
  configure_and_build release advise advise-sim >&2
  advise=build/release/engine/app/advise
  simulate=build/release/fixtures/simulator/advise-sim
fi
advise=$(realpath "$advise")
simulate=$(realpath "$simulate")
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same bytes for everybody: no settings of the user.
export XDG_CONFIG_HOME=$work LC_ALL=C.UTF-8
python=/usr/bin/python3
[ -x $python ] || python=python3

"$simulate" "$(demo_scenario)" -o "$work/demo.sqlite" >/dev/null
(cd "$work" && $python "$root/scripts/terminal-picture.py" 90 "$advise" demo.sqlite --top 1 --progress never) >"$work/terminal.svg"
(cd "$work" && "$advise" demo.sqlite --format markdown -o report.md)
pictures=$root/docs/pictures
sample=$root/docs/examples/report.md
if [ $check = yes ]; then
  if diff -u "$pictures/terminal.svg" "$work/terminal.svg" >&2 && diff -u "$sample" "$work/report.md" >&2; then exit 0; fi
  echo "pictures.sh: stale, run scripts/pictures.sh" >&2
  exit 1
fi
mkdir -p "$pictures"
cp "$work/terminal.svg" "$pictures/terminal.svg"
cp "$work/report.md" "$sample"

browser=$(command -v chromium || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "pictures.sh: no Chromium: docs/pictures/report.png stays as it is" >&2
  exit 0
fi
(cd "$work" && "$advise" demo.sqlite -o report.html)
HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
  --user-data-dir="$work/profile" --virtual-time-budget=10000 --window-size=1100,1330 --screenshot="$pictures/report.png" \
  "file://$work/report.html" >/dev/null 2>&1
$python scripts/still-page.py "$work/report.html" "$browser" >"$work/still.html"
cp "$work/still.html" "$root/docs/examples/report.html"
ls -l "$pictures" "$root/docs/examples/report.html" >&2
