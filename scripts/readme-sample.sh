#!/usr/bin/env bash
# Writes the sample report in README.md, between its two "sample" marks. Builds the program and the simulator unless they are
# given.
#   readme-sample.sh [--check] [ADVISE ADVISE-SIM]     --check: write nothing, fail when it is stale
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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same bytes for everybody: no settings of the user, and every awk counts bytes.
export XDG_CONFIG_HOME=$work LC_ALL=C

# The report of the demo, shortened: of the first finding the first advice without its snippet and
# links, of the others nothing; "…" stands for what is left out.
sample_report() {
  "$simulate" "$(demo_scenario)" -o "$work/demo.sqlite" >/dev/null
  echo '```text'
  echo '$ advise demo.sqlite'
  (cd "$work" && "$advise" demo.sqlite) | awk '
    function cut(line) { return line ~ /^(    Check|  nsys) / && length(line) > 80 ? substr(line, 1, 79) "…" : line }
    function leave_out() { if (!dots) print "    …"; dots = 1 }
    /^ 1  / { first = 1; body = 1; print; next }
    /^ [0-9 ]?[2-9]  / || /^ [0-9]+  / { if (!others) print " …\n"; others = 1; body = 2 }
    /^[A-Z]/ && body { body = 0 }
    body == 2 { next }
    body == 1 && /^    [A-Za-z]+ / { label = $1 == "saves" ? "" : $1 }
    body == 1 && (label == "or" || label == "See") { leave_out(); next }
    body == 1 && label == "Do" && /^             / { leave_out(); next }
    /^Good to know/ { quiet = 1; print "…\n" }
    /^Could not be checked/ { quiet = 0 }
    quiet { next }
    { dots = 0; print cut($0) }'
  echo '```'
}

sample_report >"$work/sample"
awk -v sample="$work/sample" '
  /^<!-- end of sample -->/ { inside = 0 }
  !inside { print }
  /^<!-- sample -->/ { while ((getline line < sample) > 0) print line; inside = 1 }' README.md >"$work/README.md"
if cmp -s "$work/README.md" README.md; then exit 0; fi
if [ $check = yes ]; then
  echo "readme-sample.sh: README.md is stale, run scripts/readme-sample.sh:" >&2
  diff -u README.md "$work/README.md" >&2 || exit 1
fi
cat "$work/README.md" >README.md
echo "readme-sample.sh: wrote README.md" >&2
