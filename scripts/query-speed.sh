#!/usr/bin/env bash
# Measures queries at full scale: it generates MOVIES movies and TV series (or uses the releases in RELEASES), and runs
# search, discover and lists on one core. It prints the sizes of the tables, the times of the build's stages, and for each
# type of query p50, p99, the size of pages, and memory.
#
#   MOVIES=1200000 TV=20000 scripts/query-speed.sh # an hour and 40 GB of disk
#   RELEASES=releases scripts/query-speed.sh       # the current release of a folder
#
# QUERIES is the number of queries of each type, 5000 by default.
set -euo pipefail
cd "$(dirname "$0")/.."

MOVIES="${MOVIES:-1200000}"
TV="${TV:-20000}"
QUERIES="${QUERIES:-5000}"

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
if [ -z "${RELEASES:-}" ]; then
  go build -o "$WORK/reelsplice" ./cmd/reelsplice
  run() { "$WORK/reelsplice" "$@"; }
  run gen --quiet --out "$WORK/dump" --movies "$MOVIES" --tv "$TV"
  run ingest --quiet --catalog "$WORK/catalog" "$WORK/dump"
  rm -rf "$WORK/dump"
  run build --quiet --catalog "$WORK/catalog" --releases "$WORK/releases" --publish
  RELEASES="$WORK/releases"
fi
RELEASES="$(cd "$RELEASES" && pwd)"
current="$RELEASES/$(head -n 1 "$RELEASES/current")"
echo "tables:"
(cd "$current" && ls -l table-*) | awk '{printf "  %-40s %10.1f MB\n", $NF, $5/1e6}'
if [ -f "$current/report.json" ]; then
  echo "build:"
  grep -A 12 '"stages"' "$current/report.json"
fi
export REELSPLICE_BENCH_RELEASES="$RELEASES" GOMAXPROCS=1
go test -c -o "$WORK/edge.test" ./serve/edge
taskset -c 0 "$WORK/edge.test" -test.run '^$' -test.bench Queries -test.benchtime "${QUERIES}x" -test.v
