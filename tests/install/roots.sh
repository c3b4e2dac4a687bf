# Shared by the tests that run the program in the root of another system: sourced, not run.
# The caller sets advise (the program here), simulate (the simulator) and work (a folder).
# shellcheck shell=bash disable=SC2154

# fail WORDS: what is wrong, and the end.
fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# Inputs for SQLite, simdjson and ISA-L; zlib and zstd by a facts file; Lua and the knowledge always; real captures, too. In
# $work/inputs.
make_inputs() {
  local scenario traces count=0
  scenario=$(demo_scenario)
  mkdir "$work/inputs"
  "$simulate" "$scenario" -o "$work/inputs/demo.sqlite" >/dev/null
  "$simulate" "$scenario" --format kineto -o "$work/inputs/demo.json" >/dev/null
  gzip -n "$work/inputs/demo.json"
  "$advise" facts "$work/inputs/demo.sqlite" -o "$work/inputs/demo.facts" >/dev/null
  traces=${ADVISE_TRACES:-../shared/traces}
  if [ ! -d "$traces" ]; then
    echo "without real captures: there is no $traces" >&2
    return
  fi
  while read -r capture; do
    count=$((count + 1))
    cp "$capture" "$work/inputs/capture-$count-$(basename "$capture")"
  done < <(for ending in sqlite trace.json.gz ncu-rep; do
    find "$traces" -name "*.$ending" -size -4M | LC_ALL=C sort | head -n 1
  done)
}

# find_way_in ROOT PROGRAM: sets `enter`. Ends the script as skipped where no root may be changed.
find_way_in() {
  enter=(chroot)
  if ! chroot "$1" "$2" --version >/dev/null 2>&1; then enter=(unshare -r chroot); fi
  if ! "${enter[@]}" "$1" "$2" --version >/dev/null 2>&1; then
    if chroot / true 2>/dev/null; then fail "$2 does not start in $1: $(chroot "$1" "$2" --version 2>&1 | head -n 3)"; fi
    echo "skipped: chroot is not permitted here" >&2
    exit 77
  fi
}

# same_in ROOT PROGRAM: it says of every input what the program says here.
same_in() {
  local root=$1 program=$2 input name
  rm -rf "$root/inputs"
  cp -r "$work/inputs" "$root/inputs"
  for input in "$work"/inputs/*; do
    name=inputs/$(basename "$input")
    (cd "$work" && "$advise" "$name" --jobs 2) >"$work/here" || fail "$name is not read here"
    "${enter[@]}" "$root" "$program" "$name" --jobs 2 >"$work/there" || fail "$name is not read in $root"
    cmp "$work/here" "$work/there" || fail "$name: another report in $root"
  done
  "${enter[@]}" "$root" "$program" scrub inputs/demo.json.gz -o clean.json.gz >/dev/null
  gzip -t "$root/clean.json.gz"
  rm "$root/clean.json.gz"
}
