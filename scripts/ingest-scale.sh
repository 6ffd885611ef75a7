#!/usr/bin/env bash
# Time and memory of ingest over generated movies at two sizes: prints both, and how much
# more memory the larger one takes. Needs Go, GNU time and some GB of disk:
#
#   scripts/ingest-scale.sh [SMALL [LARGE [DIR]]]     # 100000 1000000, a temporary folder
set -euo pipefail
cd "$(dirname "$0")/.."

small=${1:-100000} large=${2:-1000000}
dir=${3:-$(mktemp -d)}
mkdir -p "$dir"
[ -n "${3:-}" ] || trap 'rm -rf "$dir"' EXIT
go build -o "$dir/reelsplice" ./cmd/reelsplice

# measure N: makes N movies and ingests them; prints seconds and peak memory in kB.
measure() {
  "$dir/reelsplice" gen --quiet --out "$dir/$1" --movies "$1" >&2
  rm -rf "$dir/catalog-$1"
  /usr/bin/time -f '%e %M' -o "$dir/time-$1" \
    "$dir/reelsplice" ingest --quiet --catalog "$dir/catalog-$1" "$dir/$1/movies.ndjson.zst" >&2
  tail -n 1 "$dir/time-$1"
}

read -r seconds1 kb1 < <(measure "$small")
read -r seconds2 kb2 < <(measure "$large")
awk -v n1="$small" -v s1="$seconds1" -v k1="$kb1" -v n2="$large" -v s2="$seconds2" -v k2="$kb2" 'BEGIN {
  printf "%10s movies: %7.1f s, %6.0f MB at most\n", n1, s1, k1 / 1024
  printf "%10s movies: %7.1f s, %6.0f MB at most\n", n2, s2, k2 / 1024
  printf "memory: %.2f times\n", k2 / k1
}'
