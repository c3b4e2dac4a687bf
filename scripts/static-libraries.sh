#!/usr/bin/env bash
# Makes archives of the libraries that Debian has as shared libraries only, from Debian's own sources of the installed
# versions: libsimdjson.a and libisal.a, in build/static. Takes half a minute; does nothing when they are there.
# With them the program is one file (ADVISE_STATIC in cmake/StaticLibraries.cmake).
set -euo pipefail
source "$(dirname "$0")/common.sh"

static=$PWD/build/static
wanted=$(dpkg-query --show --showformat='${source:Package}=${source:Version}\n' libsimdjson-dev libisal-dev)
if [ -e "$static/libsimdjson.a" ] && [ -e "$static/libisal.a" ] && [ "$(cat "$static/versions")" = "$wanted" ]; then
  exit 0
fi
scripts/setup.sh --static
echo "static-libraries.sh: making archives of ${wanted//$'\n'/ and }" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# The sources of where the packages came from, without a change of the system's lists.
mkdir -p "$work/lists" "$work/parts" "$static"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list.d/ubuntu.sources; do
  if [ -e "$list" ]; then sed -E 's/^Types: deb$/Types: deb-src/; s/^deb /deb-src /' "$list" >"$work/parts/$(basename "$list")"; fi
done
if [ -e "$work/parts/sources.list" ]; then mv "$work/parts/sources.list" "$work/parts/plain.list"; fi
apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts" -o "Dir::State::lists=$work/lists"
  -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update
cd "$work"
for source in $wanted; do
  "${apt[@]}" --download-only --only-source source "$source" 2>/dev/null
  dpkg-source --no-check -x "${source%%=*}"_*.dsc "${source%%=*}" >/dev/null
done

# The same bytes wherever it is built.
flags=(-O2 -DNDEBUG -fPIE "-ffile-prefix-map=$work=.")
g++ "${flags[@]}" -std=c++17 -Isimdjson/include -Isimdjson/src -c simdjson/src/simdjson.cpp -o simdjson.o
ar -rcD "$static/libsimdjson.a" simdjson.o
make -s -C libisal -f Makefile.unx -j "$jobs" lib CC=gcc CFLAGS_gcc="${flags[*]}" DEBUG= DEBUG_nasm= >log 2>&1 || {
  cat log >&2
  exit 1
}
rm -f "$static/libisal.a"
(cd libisal && find bin -name '*.o' | LC_ALL=C sort | xargs ar -rcD "$static/libisal.a")
echo "$wanted" >"$static/versions"
