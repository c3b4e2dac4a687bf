#!/usr/bin/env bash
# Spelling of what people read: documents, rules, knowledge, and what the program itself prints. American words, as in
# docs/style.md; what else a program can check of texts, tests/conventions/texts_test.cc checks.
#   spell.sh [ADVISE]      without a program: only what stands in files
set -euo pipefail
cd "$(dirname "$0")/.."

advise=${1:-}
command -v codespell >/dev/null || { echo "spell.sh: codespell is missing: run scripts/setup.sh" >&2; exit 1; }

printed=$(mktemp -d)
trap 'rm -rf "$printed"' EXIT
if [ -n "$advise" ]; then
  "$advise" manual >"$printed/manual"
  "$advise" rules docs -o "$printed/docs" >/dev/null
  for command in "" facts why slice compare whatif grade scrub record mcp rules completions manual help; do
    # shellcheck disable=SC2086
    "$advise" $command --help >"$printed/help-${command:-diagnose}"
  done
fi
# Words in the program: literals, but not those of a single capitalized or dotted name.
find engine -name '*.cc' -print0 | xargs -0 grep -ohE '"[^"]*"' | grep -vE '^"[A-Za-z]*[A-Z_.][A-Za-z_.]*"$' \
  >"$printed/engine" || true

# Correct words that codespell takes for slips: library names (te), abbreviations (nd, hsa), calls (MPI_Improbe), names
# of files (Makefile.unx), and examples of slips in documents.
words=atleast,te,nd,fro,idel,snipet,ser,improbe,unx,hsa
# Ids of rules stay as they are once they are published.
ids='family.normalisation|low-utilisation|dequantisation|detokenising'
mapfile -t files < <(find README.md CONTRIBUTING.md CHANGELOG.md docs rules kb scripts fixtures -type f \
  \( -name '*.md' -o -name '*.lua' -o -name '*.toml' -o -name '*.sh' \) | sort)
codespell --builtin clear,rare,en-GB_to_en-US --ignore-words-list "$words" --ignore-regex "$ids" "${files[@]}" "$printed"
