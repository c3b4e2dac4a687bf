#!/bin/sh
# Makes the material of the workshop exercises: for each a run to hand out and, for the teacher, a run
# with the reference solution, both simulated. Usage: scripts/make-exercises.sh DIRECTORY [BUILD]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: scripts/make-exercises.sh DIRECTORY [BUILD]}
build=${2:-$root/build/release}
sim=$build/fixtures/simulator/advise-sim
advise=$build/engine/app/advise
if [ ! -x "$sim" ] || [ ! -x "$advise" ]; then
  echo "make-exercises: no simulator in $build (build the targets advise and advise-sim, or name the build folder)" >&2
  exit 2
fi
mkdir -p "$out"
for exercise in "$root"/kb/exercises/*.toml; do
  id=$(basename "$exercise" .toml)
  mkdir -p "$out/$id/teacher"
  handout=$(sed -n 's/^handout = "\(.*\)"$/\1/p' "$exercise")
  case $handout in
    *.toml)
      # Ranks on several nodes: NCCL's log belongs to the run, so both lie in a folder.
      if grep -q '^nodes = ' "$root/$handout"; then
        mkdir -p "$out/$id/handout" "$out/$id/teacher/solution"
        "$sim" "$root/$handout" -o "$out/$id/handout/run.sqlite" --nccl-log "$out/$id/handout/nccl.log"
        "$sim" "$root/$handout" --without all -o "$out/$id/teacher/solution/run.sqlite" \
          --nccl-log "$out/$id/teacher/solution/nccl.log"
      else
        "$sim" "$root/$handout" -o "$out/$id/handout.sqlite"
      fi
      if [ "$id" = zero2-zero3 ]; then
        "$sim" "$root/fixtures/exercises/zero3.toml" -o "$out/$id/teacher/solution.sqlite"
      elif [ ! -d "$out/$id/handout" ]; then
        "$sim" "$root/$handout" --without all -o "$out/$id/teacher/solution.sqlite"
      fi
      ;;
    *) cp "$root/$(dirname "$handout")"/* "$out/$id/" ;;
  esac
  "$advise" grade "$exercise" --sheet > "$out/$id/answers.toml"
  sed -n 's/^task = "\(.*\)"$/\1/p' "$exercise" > "$out/$id/TASK.txt"
done
# The worked example of scaling: the same job on one GPU.
"$sim" "$root/fixtures/exercises/four-gpus.toml" --ranks 1 -o "$out/four-gpus/one-gpu.sqlite"
echo "exercises in $out"
