#!/usr/bin/env bash
# Measures what a build costs as array jobs, beside one process, over a generated catalogue; then computes from its
# tasks how long larger catalogues take on more workers. It prints the tables of docs/explanation/scale.md. Needs Go, jq
# and 12 GB of disk at the default size; it takes half an hour on two idle CPUs.
#
#   scripts/scale.sh [--movies N] [--tv N] [--people N] [--count N] [--rounds N] [--dir DIR]
#
# What --dir has is kept, and not measured again.
set -euo pipefail
cd "$(dirname "$0")/.."

movies=100000 tv=18000 people=400000 count=16 rounds=3 dir=
while [ $# -gt 0 ]; do
  case $1 in
    --movies) movies=$2 ;;
    --tv) tv=$2 ;;
    --people) people=$2 ;;
    --count) count=$2 ;;
    --rounds) rounds=$2 ;;
    --dir) dir=$2 ;;
    *) echo "unknown: $1; see the head of $0" >&2; exit 2 ;;
  esac
  shift 2
done
if [ -z "$dir" ]; then
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir"
go build -o "$dir/reelsplice" ./cmd/reelsplice
go build -o "$dir/scale" ./scripts/scale
program=$dir/reelsplice

# one ROUND: builds in one process, and notes its CPU seconds.
one() {
  rm -rf "$dir/releases"
  TIMEFORMAT='%U %S'
  { time "$program" build --quiet --catalog "$dir/catalog" --releases "$dir/releases" >/dev/null 2>&3; } 3>&2 2>"$dir/one-$1.new"
  rm -rf "$dir/releases"
  mv "$dir/one-$1.new" "$dir/one-$1"
}

# chain NAME COUNT: builds in COUNT shares, a process each, as many at a time as there are CPUs. It leaves the plan, the
# runs and the report of the build.
chain() {
  rm -rf "$dir/releases" "$dir/work"
  "$program" build plan --quiet --catalog "$dir/catalog" --releases "$dir/releases" --work "$dir/work" >/dev/null
  cp "$dir/work/plan.json" "$dir/plan.json"
  for stage in survey prepare titles resources find index tables accounts; do
    seq 0 $(($2 - 1)) | xargs -P "$(nproc)" -I{} "$program" build task "$stage" --work "$dir/work" --index {} --count "$2" --jobs 1 --quiet >/dev/null
  done
  "$program" build status --work "$dir/work" --json >"$dir/status.new"
  "$program" build seal --work "$dir/work" --json --quiet >"$dir/report-$1.json"
  rm -rf "$dir/releases"
  mv "$dir/status.new" "$dir/$1.json"
}

if [ ! -d "$dir/catalog" ]; then
  "$program" gen --quiet --out "$dir/dump" --movies "$movies" --tv "$tv" --people "$people" >&2
  "$program" ingest --quiet --catalog "$dir/catalog.new" "$dir/dump" >&2
  rm -rf "$dir/dump"
  mv "$dir/catalog.new" "$dir/catalog"
fi
for round in $(seq "$rounds"); do
  [ -f "$dir/one-$round" ] || one "$round"
  [ -f "$dir/shares-$round.json" ] || chain "shares-$round" "$count"
done
[ -f "$dir/tasks.json" ] || chain tasks "$(jq '[.stages[].tasks] | max' "$dir/shares-1.json")" # a process each
"$dir/scale" --dir "$dir"
