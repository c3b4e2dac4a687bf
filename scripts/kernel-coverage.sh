#!/usr/bin/env bash
# How much of the kernel time of captures the program understands: the part in kernels whose names it knows, and, of the time
# that operators with recorded sizes launched, the part whose roof it knows. Prints both over all captures, and for each.
#   kernel-coverage.sh FOLDER      ADVISE names the program
set -euo pipefail
source "$(dirname "$0")/common.sh"

folder=${1:?usage: kernel-coverage.sh FOLDER}
advise=${ADVISE:-build/release/engine/app/advise}
if [ -z "${ADVISE:-}" ]; then
  scripts/setup.sh
  configure_and_build release advise >&2
fi

find -L "$folder" -type f \( -name '*.json' -o -name '*.gz' -o -name '*.sqlite' \) | sort | while read -r capture; do
  "$advise" facts "$capture" --window all --tables --format json --progress never 2>/dev/null |
    jq -r --arg name "${capture#"$folder"/}" '
      [.facts[] | select(.name | IN("kernel.time", "kernel.unknown.share", "roofline.rated.time", "roofline.rated.share"))
       | {(.name): .value}] | add // {} |
      [.["kernel.time"] // 0, .["kernel.unknown.share"] // 0, .["roofline.rated.time"] // 0, .["roofline.rated.share"] // 0, $name] | @tsv' || true
done | awk -F '\t' '
  { kernels += $1; unknown += $1 * $2; rated += $3; if ($4 > 0) sized += $3 / $4
    printf "%10.2f ms  known %5.1f %%  rated %5.1f %%  %s\n", $1 / 1e6, 100 * (1 - $2), 100 * $4, $5 }
  END { printf "%10.2f ms in all: %.2f %% in kernels that are known; of %.2f ms of operators with recorded sizes %.1f %% rated\n",
        kernels / 1e6, 100 * (1 - unknown / (kernels > 0 ? kernels : 1)), sized / 1e6, 100 * rated / (sized > 0 ? sized : 1) }'
