#!/usr/bin/env bash
# The program in systems that have none of our packages: Debian 12 and 11 as debootstrap makes them, and one that holds busybox
# alone. Needs debootstrap, busybox (Debian: busybox-static), the network and root; takes some minutes. Exit status 77: not
# possible here.
#   debian_roots.sh ADVISE ADVISE-STATIC ADVISE-SIM
set -euo pipefail
advise=$(realpath "$1") static=$(realpath "$2") simulate=$(realpath "$3")
source scripts/common.sh
source tests/install/roots.sh
unset ADVISE_SHARE

for tool in debootstrap busybox; do
  if ! command -v $tool >/dev/null; then
    echo "skipped: $tool is not installed" >&2
    exit 77
  fi
done
if [ "$(id -u)" -ne 0 ]; then
  echo "skipped: debootstrap wants root" >&2
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"
export XDG_CONFIG_HOME=$work/none

# Where this system takes its packages from.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | grep -vE 'security|updates' | head -n 1)
[ -n "$mirror" ] || fail "apt names no source of packages"

make_inputs
for suite in bookworm bullseye; do
  root=$work/$suite
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$work/said" 2>&1 || fail "debootstrap $suite: $(tail -n 5 "$work/said")"
  cp "$advise" "$root/advise"
  cp "$static" "$root/advise-static"
  programs=(/advise-static)
  # Debian 11 has an older C library than the one here: there the static program runs alone.
  if [ $suite = bookworm ]; then programs+=(/advise); fi
  for program in "${programs[@]}"; do
    find_way_in "$root" "$program"
    same_in "$root" "$program"
    echo "debian_roots.sh: ${program#/} in $suite ($(cat "$root/etc/debian_version")): the same answers as here"
  done
  rm -rf --one-file-system "$root"
done

root=$work/busybox
mkdir -p "$root/bin"
cp "$(command -v busybox)" "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
cp "$static" "$root/bin/advise"
find_way_in "$root" /bin/advise
same_in "$root" /bin/advise
# shellcheck disable=SC2016
"${enter[@]}" "$root" /bin/sh -c 'PATH=/bin; advise inputs/demo.sqlite | busybox grep -c .' >/dev/null || fail "no report in a pipe of busybox"
echo "debian_roots.sh: the static program in a root of busybox: the same answers as here"
