#!/usr/bin/env bash
# Fuzzes what reads files of strangers: builds the targets of tests/fuzz with clang's libFuzzer, makes seeds of the
# project's own tests and simulator, and runs one target after the other, on one core. An input that crashes, takes over
# 10 s or over 2 GB is kept in build/fuzz/found, and the script fails. Exit status 77: there is no libFuzzer here.
#   --seconds N   for each target (60)
#   --ci          a minute in all, of the readers of files alone
#   --built       with the targets as they were built last, so that several calls can run side by side
#   --record      no runs: adds the runs since the last record to the table of docs/reliability.md
#   TARGET…       only these
set -euo pipefail
source "$(dirname "$0")/common.sh"

seconds=60
record=no
build=yes
targets=()
while [ $# -gt 0 ]; do
  case "$1" in
    --seconds) seconds=$2 && shift ;;
    --ci) seconds=8 && targets=(any_file gzip kineto ncu_report nsys_file text_readers) ;;
    --built) build=no ;;
    --record) record=yes ;;
    -*)
      echo "usage: scripts/fuzz.sh [--seconds N] [--ci] [--built] [--record] [TARGET…]" >&2
      exit 2
      ;;
    *) targets+=("$1") ;;
  esac
  shift
done
folder=build/fuzz
runs=$folder/runs.tsv # target, day, runs, seconds of a processor, MiB at most, inputs found

# What the page says already, as lines of $runs.
recorded() {
  sed -n '/<!-- fuzz: begin -->/,/<!-- fuzz: end -->/s/^| //p' docs/reliability.md | awk -F' *[|] *' -v OFS='\t' '
    /^(Target|---|All) / { next }
    { gsub(",", "", $2); print $1, $6, $2, $3 * 3600, $4, $5 }'
}

# The sums of what is recorded and of all runs since, as a table between two marks.
write_table() {
  local page=docs/reliability.md table
  table=$(mktemp)
  {
    echo "| Target | Runs | Hours of a processor | Peak memory, MiB | Inputs kept | Last run |"
    echo "| --- | ---: | ---: | ---: | ---: | --- |"
    { recorded && cat "$runs"; } | sort | awk -F'\t' '
      function grouped(n, s, out) {
        s = sprintf("%.0f", n)
        for (out = ""; length(s) > 3; s = substr(s, 1, length(s) - 3)) out = "," substr(s, length(s) - 2) out
        return s out
      }
      function line(name) { printf "| %s | %s | %.2f | %d | %d | %s |\n", name, grouped(runs), time / 3600, peak, found, day }
      $1 != last { if (last != "") line(last); last = $1; runs = time = peak = found = 0; day = "" }
      { runs += $3; time += $4; found += $6; if ($5 > peak) peak = $5; if ($2 > day) day = $2
        all += $3; all_time += $4; all_found += $6; if ($5 > all_peak) all_peak = $5; if ($2 > all_day) all_day = $2 }
      END { if (last != "") line(last); runs = all; time = all_time; peak = all_peak; found = all_found; day = all_day; line("All") }'
  } >"$table"
  sed -i -e "/<!-- fuzz: begin -->/r $table" -e '/<!-- fuzz: begin -->/,/<!-- fuzz: end -->/{/^|/d}' "$page"
  rm -f "$table"
  mv "$runs" "$folder/recorded-$(date -u +%FT%H%M%S).tsv"
}
if [ $record = yes ]; then
  write_table
  exit 0
fi

probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$probe/probe.cc"
if ! clang++ -fsanitize=fuzzer,address "$probe/probe.cc" -o "$probe/probe" 2>/dev/null; then
  echo "fuzz.sh: clang++ with libFuzzer is not installed (Debian: clang): skipped" >&2
  exit 77
fi

known=()
for file in tests/fuzz/*.cc; do
  if grep -q LLVMFuzzerTestOneInput "$file"; then known+=("$(basename "$file" .cc)"); fi
done
if [ ${#targets[@]} -eq 0 ]; then targets=("${known[@]}"); fi
if [ $build = yes ]; then
  configure_and_build fuzz "${targets[@]/#/fuzz_}" >"$probe/build" || {
    tail -n 30 "$probe/build" >&2
    exit 1
  }
fi

# Inputs that the tests read, each format in a folder of its own; the project's own rules, settings and exercises; a
# simulated trace.
make_seeds() {
  if [ -d $folder/seeds ]; then return; fi
  local seeds=$probe/seeds
  mkdir -p "$seeds/new"
  if [ -x build/dev/tests/import_test ]; then
    ADVISE_SEEDS=$seeds/new build/dev/tests/import_test >/dev/null || true
  fi
  for kind in "$seeds"/new/*/; do
    local into=text_readers
    case $(basename "$kind") in
      nsys-sqlite) into=nsys_file ;;
      kineto) into=kineto ;;
      ncu-rep) into=ncu_report ;;
      unknown) into=any_file ;;
    esac
    mkdir -p "$seeds/$into" && find "$kind" -type f -exec cp -t "$seeds/$into" {} +
  done
  mkdir -p "$seeds"/{any_file,answers,diagnosis,facts_file,gzip,kineto,messages,nsys_tables,rules,scrub_report,scrub_text,toml,words}
  for file in kb/*.toml kb/*/*.toml; do cp "$file" "$seeds/toml/$(tr / - <<<"$file")"; done
  for file in rules/*/*.lua; do cp "$file" "$seeds/rules/$(tr / - <<<"$file")"; done
  cp kb/exercises/*.toml "$seeds/answers"
  printf 'rate,"12,5",GB/s\nshare,37 %%\ntime,3 ms\n' >"$seeds/answers/sheet.csv"
  printf 'rate = "12.5 GB/s"\nshare = "37 %%"\n' >"$seeds/answers/sheet.toml"
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}' \
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' \
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1]}}}' >"$seeds/messages/session"
  find "$seeds/text_readers" -type f -size -2k -exec cp -t "$seeds/words" {} + 2>/dev/null || true
  find "$seeds/text_readers" "$seeds/ncu_report" -type f -size -8k -exec cp -t "$seeds/any_file" {} + 2>/dev/null || true
  cp "$seeds"/kineto/* "$seeds/scrub_report" 2>/dev/null || true
  printf '\x05token on gpu17.cluster.example.org in /home/erika/run key=abc 10.0.0.1' >"$seeds/scrub_text/words"
  find "$seeds/text_readers" -type f -size -4k | head -n 40 | while read -r file; do gzip -nc "$file" >"$seeds/gzip/$(basename "$file")"; done
  printf '\0\0\27\1\5\3\1\12' | tee "$seeds/diagnosis/few" >"$seeds/nsys_tables/few"
  if [ -x build/dev/fixtures/simulator/advise-sim ] && [ -x build/dev/engine/app/advise ]; then
    local simulate=build/dev/fixtures/simulator/advise-sim
    "$simulate" "$(demo_scenario)" --steps 2 --format kineto -o "$probe/trace.json" >/dev/null
    head -c 60000 "$probe/trace.json" | tee "$seeds/kineto/simulated" >"$seeds/scrub_report/simulated"
    gzip -nc "$probe/trace.json" | tee "$seeds/gzip/simulated" >"$seeds/kineto/packed"
    "$simulate" "$(demo_scenario)" --steps 4 -o "$probe/run.sqlite" >/dev/null
    build/dev/engine/app/advise facts --no-site "$probe/run.sqlite" -o "$seeds/facts_file/run.facts" >/dev/null
    build/dev/engine/app/advise --no-site --format json "$probe/run.sqlite" >"$seeds/messages/report.json"
    # The plain text of its summary, and a few columns.
    /usr/bin/python3 - "$seeds/facts_file" <<'PY' || true
import sqlite3, subprocess, sys
folder = sys.argv[1]
rows = sqlite3.connect(folder + "/run.facts").execute("SELECT name, content FROM sections")
plain = {name: subprocess.run(["zstd", "-dc"], input=content, stdout=subprocess.PIPE).stdout for name, content in rows}
with open(folder + "/plain", "wb") as file:
    file.write(b"S" + plain["summary"] + b"\0" + plain.get("collectives", b""))
PY
  fi
  rm -r "$seeds/new"
  mv "$seeds" $folder/seeds
}
make_seeds

# largest TARGET: bytes of an input. Names and settings are short; time goes into what is in them.
largest() {
  case $1 in
    words) echo 2000 ;;
    answers | facts_file | gzip | messages | rules | scrub_text | toml) echo 20000 ;;
    *) echo 200000 ;;
  esac
}

failed=no
mkdir -p "$folder/found"
for target in "${targets[@]}"; do
  mkdir -p "$folder/corpus/$target" "$folder/seeds/$target"
  before=$(find "$folder/found" -name "$target-*" | wc -l)
  status=0
  spent=$({ TIMEFORMAT=%U && time "$folder/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=60 -report_slow_units=10 -rss_limit_mb=2048 -max_len="$(largest "$target")" -len_control=50 \
    -print_final_stats=1 -artifact_prefix="$folder/found/$target-" "$folder/corpus/$target" "$folder/seeds/$target" \
    >"$folder/$target.log" 2>&1; } 2>&1) || status=$?
  # Ten seconds of the clock are little where others compile: what took them is a fault only if it takes as much of a processor.
  for slow in "$folder/found/$target-timeout-"* "$folder/found/$target-slow-unit-"*; do
    if [ -e "$slow" ] && (ulimit -t 10 && "$folder/tests/fuzz/fuzz_$target" -timeout=1000 "$slow") >/dev/null 2>&1; then
      rm "$slow"
      status=0
    fi
  done
  stat() { sed -n "s/^stat::$1: *//p" "$folder/$target.log" | tail -n 1; }
  count=$(stat number_of_executed_units)
  found=$(($(find "$folder/found" -name "$target-*" | wc -l) - before))
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$target" "$(date -u +%F)" "${count:-0}" "$spent" "$(stat peak_rss_mb)" "$found" >>"$runs"
  echo "$target: ${count:-0} runs, peak $(stat peak_rss_mb) MiB, $found found"
  if [ $status -ne 0 ]; then
    failed=yes
    grep -m 1 -E 'ERROR|SUMMARY|broken promise|runtime error' "$folder/$target.log" >&2 || tail -n 5 "$folder/$target.log" >&2
  fi
done
[ $failed = no ]
