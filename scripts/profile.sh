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
"$program" token issue --tokens "$work/tokens.txt" >"$work/token"
"$program" serve --releases "$work/bench/releases" --tokens "$work/tokens.txt" --addr 127.0.0.1:0 --admin-addr 127.0.0.1:0 \
  --json --quiet >"$work/serve.json" &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -s "$work/serve.json" ] && break; sleep 0.1; done
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/serve.json"; }
auth="Authorization: Bearer $(cat "$work/token")"
ask() { curl -sf -H "$auth" "$(field url)$1"; }
id=$(ask /3/movie/popular | sed 's/.*"results":\[{[^}]*"id":\([0-9]*\).*/\1/')

edge() { # name, path, more headers
  wrk -t1 -c32 -d7s -H "$auth" -H "Accept-Encoding: gzip" "${@:3}" "$(field url)$2" >/dev/null &
  curl -sf "$(field admin_url)/debug/pprof/profile?seconds=5" -o "$out/$1.cpu.pprof"
  wait $!
  curl -sf "$(field admin_url)/debug/pprof/heap" -o "$out/$1.heap.pprof"
}
tag=$(curl -sf -D - -o "$work/detail" -H "$auth" "$(field url)/3/movie/$id" | sed -n 's/^[Ee][Tt]ag: \(.*\)\r$/\1/p')
edge detail "/3/movie/$id"
edge five "/3/movie/$id?append_to_response=credits,images,keywords,release_dates,videos"
edge 304 "/3/movie/$id" -H "If-None-Match: $tag"
edge search "/3/search/movie?query=the"

top() { # what, sample, file
  printf '\n== %s\n' "$1"
  go tool pprof -top -nodecount 15 -sample_index "$2" "$program" "$out/$3" 2>/dev/null
}
for name in detail five 304 search build; do
  top "$name: CPU" cpu "$name.cpu.pprof"
  top "$name: allocated" alloc_space "$name.heap.pprof"
done
