#!/usr/bin/env bash
# Makes archives, deb, rpm, lists of components and checksums of the present commit in dist. A commit with a
# tag makes that version; any other a snapshot. Needs Go and git: goreleaser is built from its pinned source.
#
#   scripts/packaging/release.sh [--targets linux_amd64,...]
set -euo pipefail
cd "$(dirname "$0")/../.."

GORELEASER=github.com/goreleaser/goreleaser/v2@v2.15.1 # the newest whose modules resolve with Go 1.26
targets=
while [ $# -gt 0 ]; do
  case $1 in
    --targets) targets=${2:?want targets behind --targets} && shift 2 ;;
    *) echo "usage: $0 [--targets linux_amd64,linux_arm64,darwin_arm64,windows_amd64]" >&2 && exit 2 ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$PWD
git clone --quiet --local . "$work/reelsplice" # what is not committed, or ignored, is in no package
cd "$work/reelsplice"
config=$work/goreleaser.yaml
awk -v want="$targets" '
  /^    targets:/ { print; list = 1; next }
  list && /^      - / { if (want == "" || index("," want ",", "," $2 ",")) { print; n++ }; next }
  { list = 0; print }
  END { if (!n) { print "no target of " want " in .goreleaser.yaml" >"/dev/stderr"; exit 1 } }' .goreleaser.yaml >"$config"

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
NEXT_VERSION=$(sed -n 's/^const nextVersion = "\(.*\)"$/\1/p' cmd/reelsplice/version.go) # of a commit without a tag
export SOURCE_DATE_EPOCH NEXT_VERSION
snapshot=
git describe --exact-match --tags HEAD >/dev/null 2>&1 || snapshot=--snapshot
go run "$GORELEASER" check --quiet "$config"
go run "$GORELEASER" release --config "$config" --clean --skip=publish $snapshot
(cd dist && sha256sum --check --quiet SHA256SUMS)

rm -rf "$root/dist"
mkdir "$root/dist"
cp -p dist/*.tar.gz dist/*.deb dist/*.rpm dist/*.cdx.json dist/SHA256SUMS "$root/dist/"
for archive in dist/*.zip; do if [ -e "$archive" ]; then cp -p "$archive" "$root/dist/"; fi; done
ls -l "$root/dist"
