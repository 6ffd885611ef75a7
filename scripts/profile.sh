#!/usr/bin/env bash
# Records CPU and heap profiles of the edge, under the load of each main case, and of a
# build, into a folder, and prints the top of each. Needs wrk, which scripts/bench.sh
# installs.
#
#   scripts/profile.sh DIR [MOVIES]
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -lt 1 ]; then
  echo "usage: scripts/profile.sh DIR [MOVIES]" >&2
  exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
movies=${2:-4000}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$work/reelsplice
go build -o "$program" ./cmd/reelsplice

"$program" gen --quiet --out "$work/dump" --movies "$movies" --tv $((movies * 229 / 1240)) >/dev/null
"$program" ingest --quiet --catalog "$work/catalog" "$work/dump" >/dev/null
"$program" build --quiet --catalog "$work/catalog" --releases "$work/bench/releases" --publish \
  --cpu-profile "$out/build.cpu.pprof" --heap-profile "$out/build.heap.pprof"
go run ./cmd/bench --program "$program" --dir "$work/bench" --profiles "$out"

top() { # what, sample, file
  printf '\n== %s\n' "$1"
  go tool pprof -top -nodecount 15 -sample_index "$2" "$program" "$out/$3" 2>/dev/null
}
for name in detail five 304 search build; do
  top "$name: CPU" cpu "$name.cpu.pprof"
  top "$name: allocated" alloc_space "$name.heap.pprof"
done
