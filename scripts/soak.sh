#!/usr/bin/env bash
# Keeps edges under load while everything around them changes, and compares each response with inspect:
#
#   - requests for all operations, Zipf-distributed: plain, over TLS, and through HAProxy as in docs/reference/fronts
#   - releases built, published, rolled back and pruned; tokens issued, revoked and expired; certificates renewed
#   - slow and hostile clients, edges killed behind HAProxy, a full disk
#
#   scripts/soak.sh [--minutes N] [--rate N] [--plot FILE.svg] [PROGRAM]
#
# N is 60 minutes and 100 requests per second by default, which takes a third of a core in all. It prints a table at the
# end; the exit code is 1 if a limit is exceeded. --plot plots the minutes with gnuplot. All servers listen on 127.0.0.1.
# PROGRAM is a reelsplice of this checkout, built by default.
#
# The full disk is a tmpfs in a mount namespace, which needs root or user namespaces. Without them, the disk is not
# filled; without haproxy, no edge is killed. A line reports that.
# shellcheck disable=SC2317 # phases have the names of functions
set -euo pipefail

if [ -z "${SOAK_DISK:-}" ]; then
  as=() SOAK_DISK=none
  [ "$(id -u)" = 0 ] || as=(--user --map-root-user)
  export SOAK_DISK
  if unshare --mount "${as[@]}" true 2>/dev/null; then SOAK_DISK=limited exec unshare --mount "${as[@]}" "$0" "$@"; fi
fi
cd "$(dirname "$0")/.."
. scripts/packaging/lib.sh

minutes=60 rate=100 plot='' program=''
while [ $# -gt 0 ]; do
  case "$1" in
    --minutes) minutes=$2 && shift ;;
    --rate) rate=$2 && shift ;;
    --plot) plot=$(realpath "$2") && shift ;;
    -*) echo "usage: $0 [--minutes N] [--rate N] [--plot FILE.svg] [PROGRAM]" >&2 && exit 2 ;;
    *) program=$(realpath "$1") ;;
  esac
  shift
done

work=$(mktemp -d) root=$PWD
disk=$work/disk
mkdir "$disk" "$work/live" "$work/ended"
finish() {
  local code=$? logs
  rm -f "$work/phase" # stops the activities
  [ -z "${load:-}" ] || kill "$load" 2>/dev/null || true
  wait
  for file in "$work"/*.pid; do kill -KILL "$(<"$file")" || true; done 2>/dev/null
  [ "$code" = 0 ] || { logs=$(mktemp -d) && cp "$work"/*.log "$logs" && echo "logs: $logs" >&2; } || true
  ! mountpoint -q "$disk" || umount --lazy "$disk"
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT
export PATH="$PATH:/usr/sbin" REELSPLICE_CONFIG=
[ -n "$program" ] || { program=$work/reelsplice && CGO_ENABLED=0 go build -o "$program" ./cmd/reelsplice; }
CGO_ENABLED=0 go build -o "$work/soak" ./scripts/soak
[ "$SOAK_DISK" = none ] || mount -t tmpfs -o size=256m,mode=0700 tmpfs "$disk"

# phase NAME: begins a phase.
phase() { echo "$1" >"$work/next" && mv "$work/next" "$work/phase"; }
phase start
fail() { printf '%s: %s\n' "$(date +%T)" "$*" | cut -c -400 | tee -a "$work/failures" >&2; }
# change COMMAND...: runs a command, which must succeed, and sets OUTPUT to its output.
change() {
  local err=$work/$BASHPID.err # several run at once
  OUTPUT=$("$program" "$@" 2>"$err") || { fail "reelsplice $*: $(tail -n 1 "$err")" && return 1; }
}
# await NAME COMMAND...: waits until COMMAND succeeds, and records how long it took.
await() {
  local name=$1 begin
  begin=$(date +%s%N)
  shift
  until "$@"; do
    [ -e "$work/phase" ] || return 1
    [ $(($(date +%s%N) - begin)) -lt 60000000000 ] || { fail "not after a minute: $name" && return 1; }
    sleep 0.05
  done
  echo "$name	$((($(date +%s%N) - begin) / 1000000))" >>"$work/effects"
}
get() { curl -s --max-time 30 --cacert certs/ca.pem -H "Authorization: Bearer $1" "${@:2}"; }
# has STATUS TOKEN: succeeds if all running edges respond to the token with STATUS.
has() {
  for url in "$plain" "$tls" "${behind[@]/#/http://}"; do
    case "$(get "$2" -o /dev/null -w '%{http_code}' "$url/3/movie/550/videos")" in "$1" | 000) ;; *) return 1 ;; esac
  done
}
# serves ID: succeeds if the edges that are never killed serve that release.
serves() { for url in "$plain" "$tls"; do get "$(<"$work/main")" -D - -o /dev/null "$url/3/movie/550" | grep "^X-Reelsplice-Release: $1" >/dev/null || return 1; done; }

cd "$disk"
"$program" ingest --quiet --catalog catalog "$root"/data/sample/*.ndjson >/dev/null
"$program" build --quiet --catalog catalog --releases releases --publish >/dev/null
"$program" cert --quiet --out certs --name 127.0.0.1 >/dev/null
"$program" token issue --quiet --name main >"$work/main"
"$program" token issue --quiet --name limited --rate 1 --burst 2 >"$work/limited"
"$program" token issue --quiet --session 1 >"$work/session"
"$program" token issue --quiet --session 5f0000000000000000000001 --v4 >"$work/user"
"$program" token issue --quiet --session 5a3b1f0e7c9d4e2f8a6b0c1d2e3f4a5b --guest >"$work/guest"

# started NAME: records the last started server, which finish kills.
started() { echo "$!" >"$work/$1.pid" && disown; }
# edge NAME ADDR ADMIN FLAGS...: starts an edge. Its caches are full within minutes: later growth is a leak.
edge() {
  "$program" serve --addr "$2" --admin-addr "$3" --shutdown-delay 3s --access-log "access-$1.log" "${@:4}" 2>>"$work/$1.log" &
  started "$1"
  await "edge started" "$program" health --quiet --admin-addr "$3" >/dev/null 2>&1
}
plain=http://127.0.0.1:$(port) tls=https://127.0.0.1:$(port) behind=()
edge plain "${plain#*//}" "127.0.0.1:$(port)"
edge tls "${tls#*//}" "127.0.0.1:$(port)" --tls-cert certs/cert.pem --tls-key certs/key.pem
if command -v haproxy >/dev/null; then
  front=127.0.0.1:$(port) stats=127.0.0.1:$(port)
  behind=("127.0.0.1:$(port)" "127.0.0.1:$(port)") admins=("127.0.0.1:$(port)" "127.0.0.1:$(port)")
  for i in 0 1; do edge "behind-$i" "${behind[i]}" "${admins[i]}"; done
  cat certs/cert.pem certs/key.pem >"$work/cert-and-key.pem"
  sed -e "s|/etc/reelsplice/|$work/|; s|bind :443|bind $front|; s|log /dev/log local0|log stdout format raw local0|; s|max-age 60|max-age 8|" \
    -e "s|10.0.0.11:8080 check port 8079|${behind[0]} check port ${admins[0]#*:}|; s|10.0.0.12:8080 check port 8079|${behind[1]} check port ${admins[1]#*:}|" \
    "$root/docs/reference/fronts/haproxy.cfg" >"$work/haproxy.cfg"
  printf 'listen stats\n  bind %s\n  stats enable\n  stats uri /\n' "$stats" >>"$work/haproxy.cfg"
  haproxy -db -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>&1 &
  started haproxy
  passes() { get "$(<"$work/main")" -o /dev/null -f "https://$front/3/movie/550"; }
  await "HAProxy started" passes
fi

# Activities during the load. Each runs until the phase ends.
on() { [ -e "$work/phase" ] && [ "$SECONDS" -lt "$end" ]; }

# release RUN: changes some movies and publishes a release, with RUN as the prefix of the commands.
release() {
  sed -nE 's/.*"id":([0-9]+),"imdb_id".*/\1/p' "$root/data/sample/movies.ndjson" | shuf -n $((1 + RANDOM % 8)) |
    sed "s/.*/{\"id\":&,\"tagline\":\"Tagline $RANDOM$RANDOM.\"}/" >"$work/movies.ndjson"
  "$1" ingest --quiet --update --catalog catalog "$work/movies.ndjson" && "$1" build --quiet --catalog catalog --releases releases --publish
}
releases() {
  local n=0
  while on; do
    n=$((n + 1))
    release change && await "release published" serves "$(head -n 1 releases/current)" || return 0
    [ $((n % 3)) != 0 ] || { change rollback && await "rolled back" serves "$(head -n 1 releases/current)"; } || return 0
    [ $((n % 2)) != 0 ] || change prune --keep 3 || return 0
    sleep 2
  done
}
tokens() {
  local name
  while on; do
    name=revoked-$RANDOM$RANDOM
    change token issue --name "$name" && await "token issued" has 200 "$OUTPUT" || return 0
    echo "$OUTPUT" >"$work/live/$name" && sleep 2 && mv "$work/live/$name" "$work/ending"
    change token revoke --name "$name" && await "token revoked" has 401 "$(<"$work/ending")" || return 0
    touch "$work/ending" && mv "$work/ending" "$work/ended/$name"

    name=expiring-$RANDOM$RANDOM
    change token issue --name "$name" --expires 3s || return 0
    echo "$OUTPUT" >"$work/live/$name" && sleep 3
    await "token expired" has 401 "$OUTPUT" || return 0
    touch "$work/live/$name" && mv "$work/live/$name" "$work/ended/$name"
  done
}
renewed() { get none -o /dev/null -w '%{certs}' "$tls/" | grep -F "$(tail -n 3 certs/cert.pem | head -n 1)" >/dev/null; }
certificates() {
  while on; do
    change cert --quiet --out certs && await "certificate renewed" renewed || return 0
    sleep 3
  done
}
rude=('' 'GET /3/movie/550 HTTP/1.1\r\nHost: a\r\nX-Half: ' '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' 'GET / HTTP/9.9\r\n\r\n' '\x00\xff\r\n\r\n'
  'POST /3/movie/550/rating HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n{' 'POST /4/list HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n'
  'GET /3/movie/550 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /' "GET /3/movie/550?%0200000x HTTP/1.1\r\n\r\n")
hostile() {
  local url
  while on; do
    url=$plain && [ $((RANDOM % 2)) = 0 ] || url=$tls
    case $((RANDOM % 3)) in
      0) get "$(<"$work/main")" --limit-rate 4k --max-time 12 -o /dev/null "$url/3/tv/1399?append_to_response=credits,images,translations,videos" || true ;;
      1) # Sends many requests and reads nothing.
        {
          printf "GET /3/tv/1399?append_to_response=credits,images HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer $(<"$work/main")\r\n\r\n%.0s" $(seq 50) >&3
          sleep $((RANDOM % 12))
        } 3<>"/dev/tcp/127.0.0.1/${plain##*:}" || true ;;
      *) { printf %b "${rude[RANDOM % ${#rude[@]}]}" >&3 && sleep $((RANDOM % 12)); } 3<>"/dev/tcp/127.0.0.1/${url##*:}" || true ;;
    esac 2>/dev/null
  done
}
clients() { for _ in $(seq 8); do hostile & done && wait; }
used() { curl -s "http://$stats/;csv" | grep "^edges,edge$1,.*,UP," >/dev/null; }
gone() { [ ! -e "/proc/$1/exe" ]; }
kills() {
  local n=0 i signals=(KILL KILL TERM TERM)
  while on; do
    i=$((n % 2))
    kill "-${signals[n % 4]}" "$(<"$work/behind-$i.pid")"
    await "edge ended" gone "$(<"$work/behind-$i.pid")" && edge "behind-$i" "${behind[i]}" "${admins[i]}" &&
      await "edge behind HAProxy used again" used $((i + 1)) || return 0
    n=$((n + 1))
  done
}
# refused COMMAND...: runs a command, which must fail because the disk is full.
refused() {
  local code=0
  "$program" "$@" >/dev/null 2>"$work/full" || code=$?
  [ "$code $(grep -c '^reelsplice: .*no space left on device' "$work/full")" = "1 1" ] || fail "on a full disk, exit code $code: reelsplice $*: $(<"$work/full")"
  return 1
}
full() {
  ! head -c 1G /dev/zero 2>/dev/null >filler || fail "the disk is not full after 1 GiB"
  while
    release refused || refused build --quiet --full || refused token issue --name full || true
    on
  do sleep 1; done
  rm filler
  release change && await "release published after a full disk" serves "$(head -n 1 releases/current)"
}

phases=("traffic alone:" "releases:releases" "tokens and certificates:tokens certificates" "slow and hostile clients:clients")
[ -z "${front:-}" ] && echo "skipped: edges killed, because haproxy is not installed" || phases+=("edges killed:kills")
[ "$SOAK_DISK" = none ] && echo "skipped: a full disk, which needs root or user namespaces" || phases+=("full disk:full")
phases+=("all at once:releases tokens certificates clients ${front:+kills}")
"$work/soak" --dir "$work" --rate "$rate" "$plain" "$tls" ${front:+"https://$front"} &
load=$!
rounds=$((minutes / ${#phases[@]}))
[ "$rounds" -gt 0 ] || rounds=1
for _ in $(seq "$rounds"); do
  for each in "${phases[@]}"; do
    phase "${each%%:*}"
    end=$((SECONDS + minutes * 60 / rounds / ${#phases[@]})) acting=()
    for act in ${each#*:}; do "$act" & acting+=($!); done
    while on; do
      kill -0 "$load" 2>/dev/null || { fail "the load ended" && break 3; }
      sleep 0.2
    done
    [ ${#acting[@]} = 0 ] || wait "${acting[@]}"
  done
done
phase end
change verify --quiet || true
! grep -l -E '^(panic|fatal error):' "$work"/*.log || fail "an edge crashed"
code=0
kill "$load" && wait "$load" || code=$?
if [ -n "$plot" ] && command -v gnuplot >/dev/null; then
  gnuplot <<PLOT
set terminal svg size 800,720 font 'sans-serif,13' background 'white'
set output '$plot'
set multiplot layout 3,1
set grid
set key top left horizontal
set yrange [0:*]
set offsets 0, 0, graph 0.3, 0
set ylabel 'memory, MiB'
plot '$work/minutes' using 1:2 with lines lw 2 title 'plain edge', '' using 1:3 with lines lw 2 title 'TLS edge'
set ylabel 'open files'
plot '$work/minutes' using 1:4 with lines lw 2 title 'plain edge', '' using 1:5 with lines lw 2 title 'TLS edge'
set ylabel 'ms'
set xlabel 'minute'
set logscale y
set yrange [0.1:10000]
plot '$work/minutes' using 1:6 with lines lw 2 title 'half of the requests', '' using 1:7 with lines lw 2 title '99 of 100'
PLOT
elif [ -n "$plot" ]; then
  echo "skipped: the plot, which needs gnuplot"
fi
exit "$code"
