#!/usr/bin/env bash
# Fails the system calls of the commands one by one: a command meets an error of the kernel, or is killed, at the N-th call
# of a kind. Afterwards
#
#   - exit code 0 comes with the complete result alone, and another one with one line that says why
#   - the release before, or the new one, is current and sound; the catalogue is the one before or the new one
#   - the same command again succeeds, and leaves what it leaves without a fault: no other file once prune ran
#
#   scripts/faults.sh [--points N] [--only COMMAND] [PROGRAM]
#
# N points are drawn of all, the same ones each time; 200 by default, "all" for every one. Needs strace.
set -euo pipefail
cd "$(dirname "$0")/.."

points=200 only= program=
while [ $# -gt 0 ]; do
  case "$1" in
    --points) points=$2 && shift ;;
    --only) only=$2 && shift ;;
    *) program=$(realpath "$1") ;;
  esac
  shift
done
command -v strace >/dev/null || { echo "skipped: strace is not installed" && exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$program" ]; then
  CGO_ENABLED=0 go build -o "$work/reelsplice" ./cmd/reelsplice
  program=$work/reelsplice
fi
rows=$PWD/data/sample
export REELSPLICE_CONFIG= GODEBUG=asyncpreemptoff=1 # its signals would interrupt calls at random

# The state before: a catalogue, one with news, releases of both and an older one, tokens.
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
other=$(comm -23 <(ls r | grep '^r' | sort) <(sort r/current) | head -n 1)
"$program" token issue --tokens tokens.txt --name old --value 0123456789abcdefghij >/dev/null

declare -A commands=(
  [ingest]="${ingest[*]} --catalog c new.movies.ndjson"
  [build]="build --quiet --catalog news --releases r --publish --max-drop 100"
  [publish]="publish --releases r $other --max-drop 100"
  [prune]="prune --releases r --keep 1"
  [issue]="token issue --tokens tokens.txt --name new --value abcdefghij0123456789"
  [revoke]="token revoke --tokens tokens.txt --name old"
)
# The errors of each call.
declare -A errors=(
  [openat]="EMFILE EIO" [read]="EIO EINTR" [pread64]="EIO" [write]="ENOSPC EIO EINTR" [pwrite64]="ENOSPC EIO" [fsync]="EIO ENOSPC"
  [renameat]="EIO ENOSPC" [mkdirat]="ENOSPC EIO" [linkat]="EIO ENOSPC" [unlinkat]="EIO" [ftruncate]="EIO ENOSPC" [fallocate]="ENOSPC"
  [mmap]="ENOMEM" [close]="EIO" [flock]="EINTR EIO" [getdents64]="EIO" [newfstatat]="EIO"
)
# Kills at other calls find the files as at the next one of these.
changing="openat write pwrite64 fsync renameat mkdirat linkat unlinkat ftruncate fallocate close"

# state prints what a command is for: files of the catalogue, the current release and those that are there, tokens.
state() {
  (cd c && sha256sum -- *.parquet)
  head -n 1 r/current
  ls r | grep '^r' || true
  cut -f 1,2 tokens.txt | grep -v '^#' | sort
  grep -c 'revoked=' tokens.txt || true
}
# fresh changes to a copy of the state before.
fresh() { rm -rf "$work/now" && cp -r "$work/before" "$work/now" && cd "$work/now"; }

declare -A wanted
list=$work/points
for name in "${!commands[@]}"; do
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  fresh
  # shellcheck disable=SC2086 # words of the command
  strace -f -qq -o "$work/calls" -- "$program" ${commands[$name]} >/dev/null
  # A call counts by thread, as strace does.
  sed -nE 's/^([0-9]+) +([a-z0-9_]+)\(.*/\1 \2/p' "$work/calls" | sort | uniq -c | awk '$1 > most[$3] { most[$3] = $1 } END { for (c in most) print c, most[c] }' |
    while read -r call most; do
      for error in ${errors[$call]:-}; do
        for n in $(seq "$most"); do echo "$name $call error=$error $n"; done
      done
      [[ " $changing " != *" $call "* ]] || for n in $(seq "$most"); do echo "$name $call signal=KILL $n"; done
    done
done | sort >"$list"
# What each command leaves without a fault.
for name in "${!commands[@]}"; do
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  fresh
  # shellcheck disable=SC2086
  "$program" ${commands[$name]} >/dev/null
  wanted[$name]=$(state)
done
all=$(wc -l <"$list")
[ "$points" = all ] || { shuf -n "$points" --random-source=<(yes) "$list" | sort -o "$work/drawn" && mv "$work/drawn" "$list"; }
echo "$(wc -l <"$list") of $all points"

failures=0 passed=0 refused=0 killed=0 runtime=0
fail() {
  failures=$((failures + 1))
  printf '%s: %s\n' "$point" "$1"
  head -n 5 "$work/stderr" | sed 's/^/    /'
}
while read -r name call fault n; do
  point="$name, $call $n, $fault"
  fresh
  code=0
  # shellcheck disable=SC2086
  { timeout 60 strace -f --seccomp-bpf -qq -o /dev/null -e trace="$call" -e inject="$call:$fault:when=$n" -- "$program" ${commands[$name]} >/dev/null 2>"$work/stderr"; } 2>"$work/shell" || code=$?
  after=$(state 2>/dev/null || true)
  case "$code" in
    0)
      passed=$((passed + 1))
      [ "$after" = "${wanted[$name]}" ] || fail "exit code 0 without the result" ;;
    137) killed=$((killed + 1)) ;;
    1)
      refused=$((refused + 1))
      [ "$(grep -c '^reelsplice: ' "$work/stderr")" = 1 ] || fail "not one line with the reason" ;;
    *)
      # Go's runtime cannot go on without memory, nor without the pipe by which its threads wake each other.
      if [ "$call" = mmap ] || grep -q '^runtime: netpollBreak' "$work/stderr"; then
        runtime=$((runtime + 1))
      else
        fail "exit code $code"
      fi ;;
  esac
  "$program" verify --quiet --releases r >/dev/null 2>&1 || fail "the current release is not sound"
  code=0
  # shellcheck disable=SC2086
  "$program" ${commands[$name]} >/dev/null 2>"$work/stderr" || code=$?
  now=$(state)
  [ "$now" = "${wanted[$name]}" ] || fail "the same command again gives another result, exit code $code"
  # What a command did before it was killed, it does not do twice: a token is issued already.
  [ "$code" = 0 ] || [ "$after" = "${wanted[$name]}" ] || fail "the same command again fails"
  "$program" prune --releases r --keep 9 >/dev/null
  left=$(find . -name '.*' ! -name . ! -name '.*lock' | head -n 3)
  [ -z "$left" ] || fail "left behind: $left"
done <"$list"
echo "$passed went on to the result, $refused were refused, $killed were killed, $runtime ended in Go's runtime"
[ "$failures" = 0 ] || { echo "$failures failures" && exit 1; }
