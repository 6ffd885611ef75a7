#!/usr/bin/env bash
# Measures a catalogue of N generated movies, with series and people in TMDB's proportions: the cost of each step,
# from the dump to requests to an edge with cold caches, and the bytes of the release by type of file.
#
#   scripts/sizing.sh [--movies N] [--companies N] [--keywords N] [--work DIR]
#
# The default of 20,000 movies takes 2 GB of disk and five minutes on two cores; TMDB's 1,240,000 take 60 GB and two
# hours. --companies 249000 --keywords 90000 gives these kinds their real size. The dump is removed after the ingest, and
# a temporary work folder at the end. docs/explanation/sizing.md has the tables.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/packaging/lib.sh
. scripts/packaging/lib.sh

movies=20000 kinds=() work='' edge='' sampler=''
while [ $# -gt 0 ]; do
  case "$1" in
    --movies) movies=$2 && shift ;;
    --companies | --keywords) kinds+=("$1" "$2") && shift ;;
    --work) work=$2 && shift ;;
    *) echo "usage: $0 [--movies N] [--companies N] [--keywords N] [--work DIR]" >&2 && exit 2 ;;
  esac
  shift
done
for tool in curl jq zstd /usr/bin/time; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2 && exit 1; }
done

remove=''
[ -n "$work" ] || { work=$(mktemp -d) && remove=$work; }
finish() {
  [ -z "$edge" ] || kill "$edge" 2>/dev/null || true
  [ -z "$sampler" ] || kill "$sampler" 2>/dev/null || true
  wait
  [ -z "$remove" ] || rm -rf "$remove"
}
trap finish EXIT
mkdir -p "$work/changes"
go build -o "$work/reelsplice" ./cmd/reelsplice
cd "$work"

# disk: writes the peak size of the current folder in MB to the file disk.
disk() {
  local now most=0
  while :; do
    now=$(du -sm . 2>/dev/null | cut -f 1) || true # files may disappear meanwhile
    [ "${now:-0}" -le "$most" ] || { most=$now && echo "$most" >disk; }
    sleep 2
  done
}

# step NAME ARG...: runs a command and prints its row: time, CPU, memory, and disk including earlier files.
step() {
  local name=$1
  shift
  echo 0 >disk
  disk &
  sampler=$!
  /usr/bin/time -o time -f "%e %U %S %M" ./reelsplice "$@" >/dev/null 2>errors || { cat errors >&2 && exit 1; }
  kill "$sampler" && { wait "$sampler" 2>/dev/null || true; } && sampler=''
  awk -v name="$name" -v disk="$({ cat disk && du -sm . | cut -f 1; } | sort -n | tail -n 1)" '{ printf "| %s | %.1f | %.1f | %d | %d |\n", name, $1, $2 + $3, $4 / 1000, disk }' time
}

# changed FILE: writes every fiftieth title of a dump, with another overview.
changed() { zstd -dc "dump/$1.ndjson.zst" | awk 'NR % 50 == 1' | sed 's/"overview":"/"overview":"Revised. /' >"changes/$1.ndjson"; }

# drop FILE...: drops the files from the page cache.
drop() { for file in "$@"; do dd if="$file" iflag=nocache count=0 2>/dev/null; done; }

# requests NAME: requests the paths of stdin one by one and prints p50 and p99 in milliseconds.
requests() {
  sed "s|.*|url = http://127.0.0.1:$port&\noutput = /dev/null|" >paths
  curl -sf --compressed -H "Authorization: Bearer $token" -w '%{time_total}\n' -K paths | sort -n |
    awk -v name="$1" '{ t[NR] = 1000 * $1 } END { printf "| %s | %.1f | %.1f |\n", name, t[int((NR + 1) / 2)], t[int((99 * NR + 99) / 100)] }'
}

echo "| step | s | CPU s | MB of memory | MB of disk |"
echo "| --- | --- | --- | --- | --- |"
step "gen" gen --quiet --out dump --movies "$movies" --tv $((movies * 229 / 1240)) "${kinds[@]}"
step "ingest" ingest --quiet dump
du -bs dump >sizes
changed movies
changed tv
zstd -dc dump/movies.ndjson.zst | awk -v step=$((movies / 400)) 'NR % step == 0' | jq -r '[.id, .title] | @tsv' >titles
rm -r dump
step "build" build --quiet
step "publish" publish
step "ingest of each fiftieth title" ingest --quiet changes
step "incremental build" build --quiet
step "its publish" publish
release=releases/$(head -n 1 releases/current)
full=releases/$(sed -n 2p releases/current)
drop "$release"/*
step "verify --subset 1/20" verify --quiet --subset 1/20
step "verify" verify --quiet

echo
du -bs catalog "$full" "$release" | cat sizes - | awk '{ printf "%-28s %10.1f MB\n", $2 (NR == 4 ? ", new" : ""), $1 / 1e6 }' # counts links once
find "$full" -type f -printf '%f %s\n' | awk '{ sub("-.*", "", $1); n[$1] += $2 } END { for (f in n) printf "%-28s %10.1f MB\n", f, n[f] / 1e6 }' | sort

token=$(./reelsplice token issue --name sizing --tokens tokens.txt 2>/dev/null) port=$(port)
drop "$release"/*
./reelsplice serve --quiet --addr "127.0.0.1:$port" --tokens tokens.txt &
edge=$!
until curl -s -o /dev/null "http://127.0.0.1:$port/"; do sleep 0.1; done
echo
echo "| requests of one client, cold caches | p50 ms | p99 ms |"
echo "| --- | --- | --- |"
awk -F'\t' 'NR % 2 { print "/3/movie/" $1 }' titles | requests "details"
awk -F'\t' 'NR % 2 == 0 { print "/3/movie/" $1 "?append_to_response=credits,images,videos,keywords,similar,release_dates" }' titles | requests "details and six parts"
awk -F'\t' '{ print $2 }' titles | tr -cd 'A-Za-z \n' | awk 'length($1) > 3 && !seen[$1]++ { print "/3/search/movie?query=" $1 }' | requests "search of movies"
awk -F'\t' '{ print $2 }' titles | tr -cd 'A-Za-z \n' | awk '{ q = substr($1, 1, 2) } length(q) > 1 && !seen[q]++ { print "/3/search/multi?query=" q }' | requests "search of all by two letters"
for genre in 18 28 35 53 27 12; do for year in $(seq 1970 2020); do echo "/3/discover/movie?with_genres=$genre&primary_release_year=$year"; done; done |
  requests "discover"
awk '/RssAnon/ { printf "\nthe edge uses %.0f MB besides mapped files\n", $2 / 1000 }' "/proc/$edge/status"
