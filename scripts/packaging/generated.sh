#!/usr/bin/env bash
# Writes the program's own files for packages into DIR: manual pages, plain and compressed, and shell completions.
# Their date is SOURCE_DATE_EPOCH, or the commit's.
#
#   scripts/packaging/generated.sh DIR
set -euo pipefail
cd "$(dirname "$0")/../.."

out=${1:?want a folder for the files}
rm -rf "$out"
mkdir -p "$out/completions" "$out/man.gz"
program=$(mktemp -d)
trap 'rm -rf "$program"' EXIT
export TZ=UTC SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
env -u GOOS -u GOARCH CGO_ENABLED=0 go build -trimpath -buildvcs=true -ldflags "-s -w" -o "$program/reelsplice" ./cmd/reelsplice
"$program/reelsplice" man --out "$out/man"
for page in "$out"/man/*.1; do gzip -9n <"$page" >"$out/man.gz/$(basename "$page").gz"; done
"$program/reelsplice" completion bash >"$out/completions/reelsplice.bash"
"$program/reelsplice" completion zsh >"$out/completions/_reelsplice"
"$program/reelsplice" completion fish >"$out/completions/reelsplice.fish"
"$program/reelsplice" completion powershell >"$out/completions/reelsplice.ps1"
