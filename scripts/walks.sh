#!/usr/bin/env bash
# Counts the executed functions and files, by package, in two walks: a request (the details of a movie with three
# appended parts, compared with an edge without a request) and a row (the first movie of the sample, through ingest and
# build, compared with printing the version twice).
#
#   scripts/walks.sh [--files] [request|row]
#
# --files prints the functions of each file instead of the packages. Function literals count with their function.
set -euo pipefail
cd "$(dirname "$0")/.."

by=package walks=(request row)
for arg in "$@"; do
  case "$arg" in
    --files) by="file" ;;
    *) walks=("$arg") ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{start,row,none,one}
go build -cover -covermode=atomic -o "$work/reelsplice" ./cmd/reelsplice
head -n 1 data/sample/movies.ndjson >"$work/movies.ndjson"
id=$(grep -o '"id":[0-9]*,"imdb_id"' "$work/movies.ndjson" | grep -o '[0-9]*' | head -n 1)
for _ in ingest build; do GOCOVERDIR=$work/start "$work/reelsplice" version >"$work/log"; done
GOCOVERDIR=$work/row "$work/reelsplice" ingest --quiet --catalog "$work/catalog" "$work/movies.ndjson" >"$work/log"
GOCOVERDIR=$work/row "$work/reelsplice" build --quiet --publish --catalog "$work/catalog" --releases "$work/releases" >"$work/log"

key=$("$work/reelsplice" token issue --json --name walks --tokens "$work/tokens" 2>/dev/null | grep -o 'rsp_[^"]*')

# serve NAME PATH: serves one request for PATH. If PATH is empty, it serves for longer, so that the edge's periodic work
# does not count for a request.
serve() {
  coproc EDGE { GOCOVERDIR=$work/$1 exec "$work/reelsplice" serve --json --quiet --releases "$work/releases" --tokens "$work/tokens" --addr 127.0.0.1:0 \
    --shutdown-delay 0 2>"$work/log"; }
  local pid=$EDGE_PID address
  read -r address <&"${EDGE[0]}"
  address=$(grep -o '127.0.0.1:[0-9]*' <<<"$address" | head -n 1)
  if [ -n "$2" ]; then
    curl --fail --silent --compressed --output "$work/body" "http://$address$2" --header "Authorization: Bearer $key"
  else
    sleep 0.8
  fi
  kill -INT "$pid"
  wait "$pid" || { cat "$work/log" >&2 && return 1; }
}

# ran NAME: prints file and line of each function, and how often its blocks ran.
ran() {
  go tool covdata textfmt -i "$work/$1" -o "$work/$1.blocks"
  go tool covdata func -i "$work/$1" | sed -n 's/^\(.*\):\([0-9]*\):.*/\1 \2/p' | sort -u >"$work/$1.functions"
  # Blocks belong to the last function before them.
  { sed 's/$/ F/' "$work/$1.functions"; sed -n 's/^\(.*\):\([0-9]*\)\.[^ ]* [0-9]* \([0-9]*\)$/\1 \2 B \3/p' "$work/$1.blocks"; } |
    sort -k1,1 -k2,2n -k3,3r | awk '$3 == "F" { at = $1 ":" $2 } $3 == "B" { n[at] += $4 } END { for (at in n) print at, n[at] }'
}

# print NAME: prints totals, and counts by package or file, of the functions on stdin.
print() {
  sed "s,^$(go list -m)/,," | awk -v name="$1" -v by="$by" '{
    file = $1; sub(/:[0-9]*$/, "", file); package = file; sub(/\/[^\/]*$/, "", package)
    key = by == "file" ? file : package
    functions++; of[key]++; packages[package]
    if (!(file in files)) { files[file]; filesOf[key]++ }
  } END {
    printf "%s: %d functions in %d files of %d packages\n", name, functions, length(files), length(packages)
    for (key in of) printf "  %-28s %5d %s\n", key, of[key], by == "file" ? "" : filesOf[key] | "sort"
  }'
}

# more NAME BASE: prints the functions that ran more often in NAME than in BASE.
more() {
  ran "$2" | sort >"$work/$2.counts"
  ran "$1" | sort | join -a 1 - "$work/$2.counts" | awk '$2 > $3 + 0 { print $1 }'
}

for walk in "${walks[@]}"; do
  case "$walk" in
    request)
      serve none ""
      serve one "/3/movie/$id?append_to_response=credits,images,videos"
      more one none | print "a request" ;;
    row) more row start | print "a row" ;;
  esac
done
