#!/usr/bin/env bash
# Records the system calls of a nightly job and of an edge, and checks them against the filter of the units. The edge
# runs as a user who may only read the files, like ReadOnlyPaths. Needs root, strace and systemd-analyze.
#
#   scripts/packaging/test-syscalls.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packaging/lib.sh

program=$(realpath "${1:?want the program}")
work=$(mktemp -d)
edge=
finish() {
  if [ -n "$edge" ]; then { pkill -P "$edge"; wait "$edge"; } || true; fi # strace ends after the edge
  rm -rf "$work"
}
trap finish EXIT
chmod 0755 "$work"
install -m 0755 "$program" "$work/reelsplice"
traced() { strace -f -qq -o "$work/calls.$1" -- "${@:2}"; }

# The calls that systemd allows: group @system-service without @privileged, each with its subgroups.
members() {
  systemd-analyze syscall-filter "$1" | sed 's/\x1b\[[0-9;]*m//g' | awk 'NR > 1 && $1 !~ /^#/ { print $1 }' | while read -r name; do
    if [ "${name#@}" != "$name" ]; then members "$name"; else echo "$name"; fi
  done
}
grep -q '^SystemCallFilter=@system-service$' scripts/packaging/systemd/reelsplice.service
comm -23 <(members @system-service | sort -u) <(members @privileged | sort -u) >"$work/allowed"

mkdir "$work/dumps" # strace is slow, and a few rows of each kind make the same calls as all
for file in data/sample/*.ndjson; do awk 'NR <= 12 || /"title":"Fight Club"/' "$file" >"$work/dumps/${file##*/}"; done
cd "$work"
token=$(./reelsplice token issue --tokens tokens.txt --name me)
traced ingest ./reelsplice ingest --quiet --catalog catalog dumps >/dev/null
traced build ./reelsplice build --quiet --catalog catalog --releases releases --publish >/dev/null
traced prune ./reelsplice prune --releases releases --keep 3 >/dev/null
chmod -R a+rX,a-w tokens.txt releases
api=127.0.0.1:$(port) admin=127.0.0.1:$(port)
: >calls.serve && chown nobody calls.serve
setpriv --reuid nobody --clear-groups strace -f -qq -o calls.serve -- \
  ./reelsplice serve --quiet --releases releases --tokens tokens.txt --addr "$api" --admin-addr "$admin" --shutdown-delay 0s &
edge=$!
answers "http://$api" "$token" "$admin" ./reelsplice
curl -sf -H "Authorization: Bearer $token" "http://$api/3/search/movie?query=club" >/dev/null
curl -sf "http://$admin/metrics" >/dev/null
pkill -HUP -P "$edge"
sleep 0.5
pkill -TERM -P "$edge"
wait "$edge"
edge=

sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' calls.* | sort -u >used
[ "$(wc -l <used)" -gt 30 ] # the traces exist
refused=$(comm -23 used allowed)
if [ -n "$refused" ]; then
  printf 'outside of the filter of the units: %s\n' "$(echo "$refused" | tr '\n' ' ')" >&2
  exit 1
fi
# The units lack MemoryDenyWriteExecute because of these calls.
grep -q 'PROT_EXEC' calls.serve || echo "the program no longer makes memory executable: set MemoryDenyWriteExecute in the units"
echo "system calls: $(wc -l <used), all within the filter"
