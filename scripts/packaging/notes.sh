#!/usr/bin/env bash
# Prints the notes of a release: the section of its version in CHANGELOG.md, or section 1.2.0 for a candidate such as
# v1.2.0-rc.1. Fails if the section is missing or empty, if a version's section is still marked as unreleased, or if the
# program has another version.
#
#   scripts/packaging/notes.sh vX.Y.Z
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() { echo "$*" >&2 && exit 1; }
version=${1:?want the tag of the version}
version=${version#v}
section=${version%%-*}
head=$(grep -E "^## ${section//./\\.}( |\$)" CHANGELOG.md) || fail "CHANGELOG.md has no section $section"
if [ "$version" = "$section" ] && [[ "$head" = *unreleased* ]]; then fail "CHANGELOG.md: $head: want the day of the release"; fi
grep -q "^const nextVersion = \"$section-dev\"\$" cmd/reelsplice/version.go || fail "cmd/reelsplice/version.go: want nextVersion $section-dev"
notes=$(HEAD=$head awk '/^## / {inside = $0 == ENVIRON["HEAD"]; next} inside' CHANGELOG.md)
[ -n "$notes" ] || fail "CHANGELOG.md: the section $section is empty"
printf '%s\n' "$notes"
