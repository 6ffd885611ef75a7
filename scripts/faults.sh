#!/usr/bin/env bash
# Injects faults into the system calls of the commands, one at a time: the N-th call of a kind returns a kernel error, or
# kills the command. Afterwards
#
#   - exit code 0 means the complete result; for any other code, one line has the reason
#   - the current release is the previous or the new one, and valid; the catalogue is the previous or the new one
#   - running the command again succeeds with the same result as without a fault: no extra file after prune
#
# upload is publish into a bucket, crawl fetches from an edge, and pull is an edge that pulls a new release from a
# bucket: it stays ready throughout, with the previous release or the new one. Bucket and edges are on 127.0.0.1.
#
#   scripts/faults.sh [--points N] [--only COMMAND] [PROGRAM]
#
# It tests N points chosen from all, always the same ones; 200 by default, "all" for every one. A call that a command
# makes more than 200 times counts as 200 points. Needs strace.
set -euo pipefail
cd "$(dirname "$0")/.."

points=200 only='' program=''
while [ $# -gt 0 ]; do
  case "$1" in
    --points) points=$2 && shift ;;
    --only) only=$2 && shift ;;
    -*) echo "usage: $0 [--points N] [--only COMMAND] [PROGRAM]" >&2 && exit 2 ;;
    *) program=$(realpath "$1") ;;
  esac
  shift
done
command -v strace >/dev/null || { echo "skipped: strace is not installed" && exit 0; }
work=$(mktemp -d)
finish() {
  for file in "$work"/*.pid; do pkill -KILL -P "$(<"$file")" || kill -KILL "$(<"$file")" || true; done 2>/dev/null # or strace's child
  rm -rf "$work"
}
trap finish EXIT
CGO_ENABLED=0 go build -o "$work/server" ./scripts/bucket
if [ -z "$program" ]; then
  CGO_ENABLED=0 go build -o "$work/reelsplice" ./cmd/reelsplice
  program=$work/reelsplice
fi
rows=$PWD/data/sample
export REELSPLICE_CONFIG='' GODEBUG=asyncpreemptoff=1 # preemption signals would interrupt calls at random
export GOMAXPROCS=1 # strace counts calls per thread: make one thread do most calls
export AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_EC2_METADATA_DISABLED=true

# bucket NAME: starts an empty bucket in place of the last one with that name, and sets URL.
bucket() {
  [ ! -e "$work/$1.pid" ] || kill -KILL "$(<"$work/$1.pid")"
  : >"$work/$1"
  "$work/server" >"$work/$1" 2>/dev/null &
  echo $! >"$work/$1.pid" && disown # the shell prints no message at its end
  until [ -s "$work/$1" ]; do sleep 0.01; done
  URL="s3://bucket/releases?$(<"$work/$1")"
}

# The state before: a catalogue, one with changes, releases of both and an older one, tokens.
mkdir "$work/before" && cd "$work/before"
head -n 8 "$rows/movies.ndjson" >old.movies.ndjson
head -n 2 "$rows/tv.ndjson" >old.tv.ndjson
{ tail -n +2 old.movies.ndjson && sed -n 9p "$rows/movies.ndjson" && echo '{"id":11,"tagline":"Another one."}'; } >new.movies.ndjson
ingest=(ingest --quiet --update --date 2026-01-02T00:00:00Z)
"$program" ingest --quiet --date 2026-01-01T00:00:00Z --catalog c old.movies.ndjson old.tv.ndjson >/dev/null
"$program" build --quiet --catalog c --releases r --publish >/dev/null
cp -r c news && "$program" "${ingest[@]}" --catalog news new.movies.ndjson >/dev/null
"$program" build --quiet --catalog c --releases r --level 1 --full --publish >/dev/null
"$program" build --quiet --catalog c --releases r --level 9 --full >/dev/null
other=$(cd r && comm -23 <(printf '%s\n' r* | sort) <(sort current) | head -n 1)
"$program" token issue --tokens tokens.txt --name old --value 0123456789abcdefghij >/dev/null
echo 0123456789abcdefghij >key
printf 'movie %s\n' 11 12 13 >ids.txt
current=$(head -n 1 r/current)
mkdir cache && cp -r "r/$current" cache/ && echo "$current" >cache/current
bucket fleet && fleet=$URL
for id in "$current" "$other"; do "$program" publish --quiet --releases "$fleet" --from r "$id" --max-drop 100 >/dev/null; done
host=127.$((1 + RANDOM % 250)).$((RANDOM % 250)).$((1 + RANDOM % 250)) # no other process uses its ports
"$program" serve --quiet --addr "$host:8081" --admin-addr "$host:8079" 2>/dev/null --releases "$work/before/r" --tokens "$work/before/tokens.txt" &
echo $! >"$work/edge.pid" && disown
until curl -sf -o "$work/ready" "http://$host:8079/readyz"; do sleep 0.05; done

declare -A commands=(
  [ingest]="${ingest[*]} --catalog c new.movies.ndjson"
  [build]="build --quiet --catalog news --releases r --publish --max-drop 100"
  [publish]="publish --releases r $other --max-drop 100"
  [prune]="prune --releases r --keep 1"
  [issue]="token issue --tokens tokens.txt --name new --value abcdefghij0123456789"
  [revoke]="token revoke --tokens tokens.txt --name old"
  [upload]="publish --quiet --releases URL --from r $other --max-drop 100"
  [crawl]="crawl --quiet --from http://$host:8081 --key-file key --out dump --ids ids.txt --rate 1000 --tries 3"
  [pull]="serve --quiet --addr $host:8080 --admin-addr $host:8078 --tokens tokens.txt --releases $fleet --cache-dir cache --shutdown-delay 0s"
)
# The errors of each call.
declare -A errors=(
  [openat]="EMFILE EIO" [read]="EIO EINTR" [pread64]="EIO" [write]="ENOSPC EIO EINTR" [pwrite64]="ENOSPC EIO" [fsync]="EIO ENOSPC"
  [renameat]="EIO ENOSPC" [mkdirat]="ENOSPC EIO" [linkat]="EIO ENOSPC" [unlinkat]="EIO" [ftruncate]="EIO ENOSPC" [fallocate]="ENOSPC"
  [mmap]="ENOMEM" [close]="EIO" [flock]="EINTR EIO" [getdents64]="EIO" [newfstatat]="EIO"
)
# A kill at any other call leaves the same files as a kill at the next of these calls.
changing="openat write pwrite64 fsync renameat mkdirat linkat unlinkat ftruncate fallocate close"

# state prints the results of commands: files of the catalogue, the current release, all releases, tokens.
state() {
  (cd c && sha256sum -- *.parquet)
  for releases in r cache; do
    head -n 1 $releases/current
    (cd $releases && echo r*)
  done
  cut -f 1,2 tokens.txt | grep -v '^#' | sort
  grep -c 'revoked=' tokens.txt || true
  [ ! -d dump ] || cat dump/*.ndjson | sed 's/"_fetched":"[^"]*"//' | sort | sha256sum
  [ "$name" != upload ] || "$program" releases --releases "$URL"
}
# fresh restores the initial state in a copy, and changes to it.
fresh() {
  rm -rf "$work/now" && cp -r "$work/before" "$work/now" && cd "$work/now"
  [ "$name" != upload ] || { bucket uploads && "$program" publish --quiet --releases "$URL" --from r "$current" >/dev/null; }
}
# run TRACER...: runs the command of the point and returns its exit code.
run() {
  if [ "$name" = pull ]; then follow "$@"; else
    # shellcheck disable=SC2086 # words of the command
    timeout 60 "$@" "$program" ${commands[$name]//URL/"$URL"} >/dev/null 2>"$work/stderr"
  fi
}
# follow TRACER...: runs the edge until it serves the new release, and stops it.
follow() {
  local pid child was='' ready='' code=0 i
  # shellcheck disable=SC2086
  "$@" "$program" ${commands[pull]} >/dev/null 2>"$work/stderr" &
  pid=$!
  echo $pid >"$work/pull.pid"
  for ((i = 0; i < 600; i++)); do # half a minute
    kill -0 $pid 2>/dev/null || break
    ready=$(curl -s -m 5 "http://$host:8078/readyz" | head -n 1) || true
    case "$ready" in
      "ok $current"*) was=ready ;;
      "ok $other"*) break ;;
      *) [ -z "$was" ] || [ -z "$ready" ] || { echo "no longer ready: $ready" >>"$work/stderr" && code=97; } ;;
    esac
    sleep 0.05
  done
  child=$pid
  [ $# = 0 ] || child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null) || true
  if [ "$i" = 600 ]; then
    echo "no new release after half a minute: $ready" >>"$work/stderr"
    kill -KILL "$child" && code=98
  fi
  kill -TERM "$child" 2>/dev/null || true # it may have exited
  wait $pid || code=$((code ? code : $?))
  rm "$work/pull.pid"
  return $code
}

declare -A wanted
list=$work/points
for name in "${!commands[@]}"; do
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  fresh
  run strace -f --seccomp-bpf -qq -o "$work/calls" -e trace="$(IFS=, && echo "${!errors[*]}")" --
  # strace counts calls per thread.
  sed -nE 's/^([0-9]+) +([a-z0-9_]+)\(.*/\1 \2/p' "$work/calls" | sort | uniq -c | awk '$1 > most[$3] { most[$3] = $1 } END { for (c in most) print c, most[c] }' |
    while read -r call most; do
      for error in ${errors[$call]:-}; do
        seq -f "$name $call error=$error %.0f" 1 $(((most + 199) / 200)) "$most"
      done
      [[ " $changing " != *" $call "* ]] || seq -f "$name $call signal=KILL %.0f" 1 $(((most + 199) / 200)) "$most"
    done >>"$list"
  fresh
  run
  wanted[$name]=$(state) # the result without a fault
done
sort -o "$list" "$list"
all=$(wc -l <"$list")
[ "$points" = all ] || { shuf -n "$points" --random-source=<(yes) "$list" | sort -o "$work/drawn" && mv "$work/drawn" "$list"; }
echo "$(wc -l <"$list") of $all points"

failures=0 passed=0 refused=0 killed=0 runtime=0 missed=0
fail() {
  failures=$((failures + 1))
  printf '%s: %s\n' "$point" "$1"
  head -n 5 "$work/stderr" | sed 's/^/    /'
}
while read -r name call fault n; do
  point="$name, $call $n, $fault"
  fresh
  code=0
  fast=()
  [[ "$fault" = signal=* ]] || fast=(--seccomp-bpf) # with it, strace 6.1 kills at the first call or never
  { run strace -f "${fast[@]}" -qq -o "$work/trace" -e trace="$call" -e inject="$call:$fault:when=$n" --; } 2>"$work/shell" || code=$?
  after=$(state 2>/dev/null || true)
  case "$code" in
    0)
      if grep -q INJECTED "$work/trace"; then passed=$((passed + 1)); else missed=$((missed + 1)); fi
      [ "$after" = "${wanted[$name]}" ] || fail "exit code 0 without the result" ;;
    137) killed=$((killed + 1)) ;;
    1)
      refused=$((refused + 1))
      # The first write of each thread fails, so the error line may fail too.
      [ "$(grep -c '^reelsplice: ' "$work/stderr")" = 1 ] || [ "$call" = write ] || fail "not one line with the reason" ;;
    *)
      # Go's runtime cannot continue without memory, nor without the pipe that wakes its threads.
      if [ "$call" = mmap ] || grep -q '^runtime: netpollBreak' "$work/stderr"; then
        runtime=$((runtime + 1))
      else
        fail "exit code $code"
      fi ;;
  esac
  for releases in r cache ${URL:+"$URL"}; do
    [[ "$releases" != s3:* ]] || [ "$name" = upload ] || continue
    "$program" verify --quiet --releases "$releases" >/dev/null 2>&1 || fail "the current release of $releases is not sound"
  done
  code=0
  run || code=$?
  now=$(state)
  [ "$now" = "${wanted[$name]}" ] || fail "the same command again has another result, exit code $code"
  # A repeated command may fail if the killed one was complete: the token exists already.
  [ "$code" = 0 ] || [ "$after" = "${wanted[$name]}" ] || fail "the same command again fails"
  "$program" prune --releases r --keep 9 >/dev/null
  left=$(find . -name '.*' ! -name . ! -name '.*lock' ! -name .crawl | head -n 3)
  [ -z "$left" ] || fail "leftover files: $left"
done <"$list"
echo "$passed succeeded in spite of the fault, $refused failed with a reason, $killed were killed, $runtime ended in Go's runtime, $missed made fewer calls this time"
[ "$failures" = 0 ] || { echo "$failures failures" && exit 1; }
