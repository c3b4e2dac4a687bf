#!/usr/bin/env bash
# An installed program works wherever its folder is moved: program, manual page, completions, rules, pages, licenses and the
# module file; nothing of it names a folder of the build.
#   install_test.sh BUILD ADVISE-SIM
set -euo pipefail
build=$(realpath "$1") simulate=$(realpath "$2")
source scripts/common.sh
unset ADVISE_SHARE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/none

fail() {
  echo "install_test.sh: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
root=$work/moved
version=$(project_version)

for file in bin/advise share/man/man1/advise.1 share/bash-completion/completions/advise share/zsh/site-functions/_advise \
  share/fish/vendor_completions.d/advise.fish share/advise/rules/lib/facts.d.lua share/advise/kb/site.example.toml \
  share/doc/advise/rules.md share/doc/advise/facts.md share/doc/advise/README.md share/doc/advise/copyright \
  "share/advise/modulefiles/advise/$version.lua"; do
  [ -s "$root/$file" ] || fail "$file is not installed"
done
while read -r package _; do
  if [ -e "/usr/share/doc/$package/copyright" ]; then
    [ -s "$root/share/doc/advise/licenses/$package" ] || fail "the license of $package is not installed"
  fi
done < <(grep -v '^#' packaging/linked.txt)

[ "$("$root/bin/advise" --version)" = "advise $version" ] || fail "says it is $("$root/bin/advise" --version)"
(cd "$work" && "$simulate" "$OLDPWD/$(demo_scenario)" -o demo.sqlite >/dev/null)
(cd "$work" && "$root/bin/advise" demo.sqlite >here)
grep -q 'Load data in worker processes' "$work/here" || fail "another report: $(head -n 9 "$work/here")"
bash -n "$root/share/bash-completion/completions/advise"
if command -v zsh >/dev/null; then zsh -n "$root/share/zsh/site-functions/_advise"; fi
if command -v fish >/dev/null; then fish -n "$root/share/fish/vendor_completions.d/advise.fish"; fi
if command -v man >/dev/null; then man -l "$root/share/man/man1/advise.1" >/dev/null 2>"$work/said" && [ ! -s "$work/said" ]; fi
# Debug information aside, which only builds of developers have.
if grep -rlF -e "$PWD" -e "$work/first" --exclude=advise --exclude=libadvise_mpi.so "$root"; then fail "these name folders of the build"; fi

# The module file finds the program beside itself.
if [ -e /usr/share/lmod/lmod/init/bash ]; then
  # shellcheck disable=SC2016
  said=$(env -i HOME="$work" PATH=/usr/bin:/bin bash -c 'source /usr/share/lmod/lmod/init/bash
    module use "$1" && module load advise && command -v advise && advise --version' - "$root/share/advise/modulefiles" 2>&1)
  grep -qF "advise $version" <<<"$said" || fail "module load advise: $said"
  # An unset variable stands for the folders of the system, which must be found as before.
  # shellcheck disable=SC2016
  said=$(env -i HOME="$work" PATH=/usr/bin:/bin bash -c 'source /usr/share/lmod/lmod/init/bash
    module use "$1" && module load advise && echo "$XDG_DATA_DIRS ${MANPATH-none} ${FPATH-none}"' - "$root/share/advise/modulefiles" 2>&1)
  [ "$said" = "$root/share:/usr/local/share:/usr/share none none" ] || fail "module load advise sets: $said"
  if command -v zsh >/dev/null; then
    # shellcheck disable=SC2016
    said=$(env -i HOME="$work" PATH=/usr/bin:/bin zsh -f -c 'source /usr/share/lmod/lmod/init/zsh
      before=$FPATH; module use "$1"; module load advise; [[ $FPATH = "$2:$before" ]] || echo "$FPATH"
      module unload advise; [[ $FPATH = "$before" ]] || echo "$FPATH"' - "$root/share/advise/modulefiles" "$root/share/zsh/site-functions" 2>&1)
    [ -z "$said" ] || fail "module load advise changes the folders of zsh: $said"
  fi
else
  echo "without Lmod: the module file was not tried" >&2
fi
