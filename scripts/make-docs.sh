#!/usr/bin/env bash
# Writes what the documentation takes from the program: docs/facts.md, docs/rules.md with a page a rule below docs/rules/,
# the fact names in rules/lib/api.d.lua, and the sample report in README.md (between its two "sample" marks). Builds the
# program and the simulator unless they are given.
#   make-docs.sh [--check] [ADVISE [ADVISE-SIM]]     --check: write nothing, fail when something is stale
# Without ADVISE-SIM, but with ADVISE, the sample report is left as it is.
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
if [ -n "$simulate" ]; then simulate=$(realpath "$simulate"); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same bytes for everybody: no settings of the user, and every awk counts bytes.
export XDG_CONFIG_HOME=$work LC_ALL=C

# The program's JSON has one key a line, in a fixed order: enough for awk, which every system has.
# Defines value(): the text of the line's value.
json='function value(  text) {
  text = $0
  sub(/^ *"[a-z_]+": "/, "", text); sub(/",?$/, "", text)
  gsub(/\\"/, "\"", text); gsub(/\\\\/, "\\", text); gsub(/[|]/, "\\|", text)
  return text
}'

facts_page() {
  cat <<'PAGE'
# Facts

What rules may read, what `advise facts run.sqlite` prints, and what stands under `facts` in the JSON report. Made by
`scripts/make-docs.sh` from the program; do not edit.

- Stretches of time (`ns`) are averages over the devices that did work, so that they compare with `window.time`; where the
  definition says "summed", they are sums over the things counted, of all devices.
- `spans` are time on devices, for a finding to claim: their total compares with `window.device_time`.
- `remedy` is what a fix would change, for the replay; it has no value to print.
- `rows` are small tables; `advise facts run.sqlite --tables` prints them in full.
- "A step" means the median over the steps of the window, or the whole window when there are no steps.
- A fact that cannot be known is *absent* and says why.
PAGE
  "$advise" facts --list --format json | awk "$json"'
    /^ +"name":/ { name = value() }
    /^ +"unit":/ { unit = value() }
    /^ +"definition":/ {
      area = name; sub(/[.].*/, "", area)
      if (area != last) print "\n## " area "\n\n| fact | unit | definition |\n|---|---|---|"
      last = area
      print "| `" name "` | " unit " | " value() " |"
    }'
}

# The facts as LuaLS classes: a class a prefix, a field a name below it.
api_stub() {
  sed '/^-- ---- Facts/,$d' rules/lib/api.d.lua
  echo '-- ---- Facts: made by scripts/make-docs.sh from the program; do not edit below.'
  "$advise" facts --list --format json | awk "$json"'
    function type(unit) {
      if (unit == "flag") return "boolean"
      if (unit == "name") return "string"
      if (unit == "rows") return "Rows"
      if (unit == "spans") return "Spans"
      if (unit == "remedy") return "Remedy"
      return "number"
    }
    function add(class, field, what, words,  key) {
      key = class SUBSEP field
      if (!(class in first)) { first[class] = 1; classes[++count] = class }
      if (!(key in kind)) { order[class] = order[class] " " field; kind[key] = what; text[key] = words }
      else if (index("|" kind[key] "|", "|" what "|") == 0) { kind[key] = kind[key] "|" what; if (words != "") text[key] = words }
    }
    /^ +"name":/ { name = value() }
    /^ +"unit":/ { unit = value() }
    /^ +"definition":/ {
      n = split(name, part, ".")
      class = "Facts"
      for (i = 1; i < n; ++i) {
        below = (class == "Facts" ? "Facts." : class ".") part[i]
        add(class, part[i], below, "")
        class = below
      }
      add(class, part[n], type(unit), unit ": " value())
    }
    END {
      for (c = 1; c <= count; ++c) {
        class = classes[c]
        print "\n---@class " class
        n = split(order[class], fields, " ")
        for (i = 1; i <= n; ++i) {
          key = class SUBSEP fields[i]
          print "---@field " fields[i] " " kind[key] (text[key] == "" ? "" : "  " text[key])
        }
      }
    }'
}

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

# keep FILE: takes standard input in place of FILE, or with --check compares them.
stale=no
keep() {
  cat >"$work/page"
  if cmp -s "$work/page" "$1"; then return; fi
  if [ $check = yes ]; then
    echo "make-docs.sh: $1 is stale, run scripts/make-docs.sh:" >&2
    diff -u "$1" "$work/page" >&2 || true
    stale=yes
  else
    cat "$work/page" >"$1"
    echo "make-docs.sh: wrote $1" >&2
  fi
}

facts_page >"$work/facts"
keep docs/facts.md <"$work/facts"
api_stub >"$work/api"
keep rules/lib/api.d.lua <"$work/api"

# A page a rule, and their index. Pages of rules that are gone go, too.
"$advise" rules docs -o "$work/pages" >/dev/null
keep docs/rules.md <"$work/pages/rules.md"
while IFS= read -r page; do
  if [ ! -e "docs/$page" ] && [ $check = no ]; then
    mkdir -p "docs/$(dirname "$page")"
    : >"docs/$page"
  fi
  if [ -e "docs/$page" ]; then
    keep "docs/$page" <"$work/pages/$page"
  else
    echo "make-docs.sh: docs/$page is missing, run scripts/make-docs.sh" >&2
    stale=yes
  fi
done < <(cd "$work/pages" && find rules -name '*.md' | sort)
if [ -d docs/rules ]; then
  while IFS= read -r page; do
    if [ -e "$work/pages/$page" ]; then continue; fi
    if [ $check = yes ]; then
      echo "make-docs.sh: docs/$page is of no rule, run scripts/make-docs.sh" >&2
      stale=yes
    else
      rm "docs/$page"
      echo "make-docs.sh: removed docs/$page" >&2
    fi
  done < <(cd docs && find rules -name '*.md' | sort)
fi
if [ -n "$simulate" ]; then
  sample_report >"$work/sample"
  awk -v sample="$work/sample" '
    /^<!-- end of sample -->/ { inside = 0 }
    !inside { print }
    /^<!-- sample -->/ { while ((getline line < sample) > 0) print line; inside = 1 }' README.md >"$work/readme"
  keep README.md <"$work/readme"
fi
[ $stale = no ]
