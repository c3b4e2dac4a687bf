#!/usr/bin/env bash
# Makes what is published of a version: the program as one file, packages (TGZ, DEB), the Python package, a bill of materials
# (SPDX) with licenses, and checksums, in build/release-VERSION. The version is that of CMakeLists.txt; the files are those of the last commit.
# The same commit gives the same bytes, in whatever folder and whenever it is built.
#   release.sh [--draft] [--twice]
#   --draft    although the changelog says that this version is not released yet
#   --twice    builds again in another folder, without ccache, and fails unless every file is the same
set -euo pipefail
source "$(dirname "$0")/common.sh"

draft=no
twice=no
for option in "$@"; do
  case "$option" in
    --draft) draft=yes ;;
    --twice) twice=yes ;;
    *)
      echo "usage: scripts/release.sh [--draft] [--twice]" >&2
      exit 2
      ;;
  esac
done

version=$(project_version)
newest=$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)
if [[ $draft = no && "$newest" != "$version" ]]; then
  echo "release.sh: the changelog's newest section is \"$newest\", not \"$version\": say that it is released, or use --draft" >&2
  exit 1
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
commit=$(git rev-parse HEAD)
machine=$(uname -m)
name=advise-$version-linux-$machine

scripts/setup.sh
scripts/static-libraries.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# bill_of_materials: SPDX 2.3. What is linked stands in packaging/linked.txt; versions are those of Debian's packages.
bill_of_materials() {
  local created package license installed source id
  created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  printf '{\n "spdxVersion": "SPDX-2.3",\n "dataLicense": "CC0-1.0",\n "SPDXID": "SPDXRef-DOCUMENT",\n'
  printf ' "name": "%s",\n "documentNamespace": "urn:advise:%s:%s",\n' "$name" "$version" "$commit"
  printf ' "creationInfo": {"created": "%s", "creators": ["Tool: scripts/release.sh"]},\n "packages": [\n' "$created"
  printf '  {"SPDXID": "SPDXRef-advise", "name": "advise", "versionInfo": "%s", "downloadLocation": "NOASSERTION",\n' "$version"
  printf '   "filesAnalyzed": false, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}'
  local links='  {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-advise"}'
  while read -r package license; do
    installed=$(dpkg-query --show --showformat='${Version}' "$package")
    source=$(dpkg-query --show --showformat='${source:Package}@${source:Version}' "$package")
    id=SPDXRef-${package//+/-plus}
    printf ',\n  {"SPDXID": "%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION",\n' "$id" "$package" "$installed"
    printf '   "filesAnalyzed": false, "licenseConcluded": "%s", "licenseDeclared": "NOASSERTION",\n' "$license"
    printf '   "copyrightText": "NOASSERTION", "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER",\n'
    printf '    "referenceType": "purl", "referenceLocator": "pkg:deb/debian/%s?arch=source"}]}' "$source"
    links+=$',\n  {"spdxElementId": "SPDXRef-advise", "relationshipType": "STATIC_LINK", "relatedSpdxElement": "'$id'"}'
  done < <(grep -v '^#' packaging/linked.txt)
  printf '\n ],\n "relationships": [\n%s\n ]\n}\n' "$links"
}

# make_release FOLDER OUT: from the last commit's files, put into FOLDER.
make_release() {
  local tree=$1 out=$2
  mkdir -p "$tree/build" "$out"
  git archive "$commit" | tar -x -C "$tree"
  cp -r build/static "$tree/build/static"
  (
    cd "$tree"
    configure_and_build package >&2
    cd build/package
    cpack -G TGZ >/dev/null
    cpack -G DEB >/dev/null
    cp "$name.tar.gz" advise_*.deb "$out"
    strip -o "$out/$name" engine/app/advise
    ../../scripts/make-wheel.sh engine/app/advise "$out" >&2
  )
  bill_of_materials >"$out/$name.spdx.json"
  sed "s/@version@/$version/; s/@sha256@/$(sha256sum "$out/$name.tar.gz" | cut -d ' ' -f 1)/" \
    packaging/easybuild/advise.eb.in >"$out/advise-$version.eb"
  (cd "$out" && sha256sum -- * >SHA256SUMS)
}

out=$PWD/build/release-$version
rm -rf "$out"
make_release "$work/first" "$out"
if [ $twice = yes ]; then
  CCACHE_DISABLE=1 make_release "$work/elsewhere/second" "$work/again"
  diff "$out/SHA256SUMS" "$work/again/SHA256SUMS" || {
    mkdir -p "$out.other" && cp "$work/again/"* "$out.other"
    echo "release.sh: a second build gave other files: $out.other" >&2
    exit 1
  }
  echo "release.sh: a second build in another folder gave the same bytes" >&2
fi
cat "$out/SHA256SUMS"
