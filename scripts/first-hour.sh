#!/usr/bin/env bash
# Times the first hour of a user without Go: it installs the deb on a fresh Debian, crawls 200 titles from another edge,
# ingests, builds and serves them; a browser and an application use the edge. It prints the commands with their seconds,
# and takes pictures of the page. It takes ten minutes at most, and listens only on 127.0.0.1. It needs root, mmdebstrap
# with a Debian mirror, curl and jq. A step without its tools is skipped and listed at the end.
#
#   scripts/first-hour.sh [PICTURES]
#
# PICTURES is a folder; the default is REELSPLICE_PICTURES, or no pictures. It uses the packages in dist. If they are
# missing, scripts/packaging/release.sh makes them, which needs Go and is not timed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packaging/lib.sh

limit=600 titles=200
pictures=${1:-${REELSPLICE_PICTURES:-}}
for program in mmdebstrap chroot curl jq; do
  command -v "$program" >/dev/null || { echo "skipped: the first hour needs $program" && exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: the first hour needs root, for a chroot" && exit 0; }
ls dist/*_linux_amd64.deb >/dev/null 2>&1 || scripts/packaging/release.sh --targets linux_amd64

if [ -z "${FIRST_HOUR_DIR:-}" ]; then
  FIRST_HOUR_DIR=$(mktemp -d)
  export FIRST_HOUR_DIR
  trap 'rm -rf "$FIRST_HOUR_DIR"' EXIT
  timeout --kill-after=20 "$limit" "$0" ${pictures:+"$pictures"} &
  bounded=$!
  trap 'kill "$bounded" 2>/dev/null; wait "$bounded"; exit 130' INT TERM
  code=0
  wait "$bounded" || code=$?
  [ "$code" != 124 ] || echo "first hour: not done after $limit seconds" >&2
  exit "$code"
fi

work=$FIRST_HOUR_DIR
root=$work/root
servers=() session=
finish() {
  local pid
  [ -z "$session" ] || driver DELETE "/$session" >/dev/null || true # ends the browser
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" || true; done
}
trap finish EXIT
trap 'exit 143' TERM INT
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

rows=() skipped=() total=0
now() { date +%s%N; }
# timed STEP SHOWN COMMAND...: runs a command, which the table shows as SHOWN, and sets OUTPUT to its output.
timed() {
  local step=$1 shown=$2 begin=0 spent=0
  shift 2
  printf '\n-- %s\n$ %s\n' "$step" "$shown"
  begin=$(now)
  "$@" >"$work/output" 2>&1 || { cat "$work/output" >&2 && echo "first hour: $step failed" >&2 && exit 1; }
  spent=$((($(now) - begin) / 1000000))
  total=$((total + spent))
  OUTPUT=$(cat "$work/output")
  sed -e 's/\brsp_[[:alnum:]]*/TOKEN/g' <<<"$OUTPUT" | cut -c -160 | tail -n 12
  rows+=("$(printf '%-22s %8.2f  %s' "$step" "$(seconds "$spent")" "$shown")")
}
seconds() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }
# has_line PATTERN: requires a matching line in OUTPUT.
has_line() { grep -Eq "$1" <<<"$OUTPUT" || { echo "first hour: want output with $1" >&2 && exit 1; }; }
in_root() { chroot "$root" "$@"; }
api=127.0.0.1:$(port) admin=127.0.0.1:$(port) other=127.0.0.1:$(port)
user=(chroot --userspec=reelsplice:reelsplice "$root" env --chdir=/var/lib/reelsplice HOME=/var/lib/reelsplice
  REELSPLICE_ADDR="$api" REELSPLICE_ADMIN_ADDR="$admin")
as_user() { "${user[@]}" "$@"; }

# The user's machine and another edge, which are not timed.
deb=$(ls -t dist/*_linux_amd64.deb | head -n 1)
tar xzf "${deb%.deb}.tar.gz" --strip-components=1 -C "$work" --wildcards '*/reelsplice'
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mmdebstrap --quiet --variant=minbase "$suite" "$root"
[ -z "$(in_root sh -c 'command -v go' || true)" ]
cp "$deb" "$root/"

begin=$(now)
"$work/reelsplice" up --dir "$work/up" --addr "$other" >"$work/up.log" 2>&1 &
servers+=($!)
up=
for _ in $(seq 3000); do
  if [ -s "$work/up/token" ] && curl -sf -o /dev/null -H "Authorization: Bearer $(cat "$work/up/token")" "http://$other/3/movie/550"; then
    up=$((($(now) - begin) / 1000000)) && break
  fi
  kill -0 "${servers[0]}" || { cat "$work/up.log" >&2 && exit 1; }
  sleep 0.01
done
[ -n "$up" ] || { echo "first hour: reelsplice up has no response after 30 s" >&2 && exit 1; }

# The user's steps, with chroot --userspec in place of "sudo -u reelsplice".
timed install "sudo apt install ./$(basename "$deb")" in_root apt-get install -y "/$(basename "$deb")"
timed version "su -s /bin/sh reelsplice -c 'reelsplice version'" in_root su -s /bin/sh reelsplice -c 'reelsplice version'

{
  jq -r '"movie \(.id)"' data/sample/movies.ndjson
  jq -r '"tv \(.id)"' data/sample/tv.ndjson
} | awk -v n="$titles" 'NR <= n' >"$root/var/lib/reelsplice/ids.txt" # reads to the end: jq fails on a closed pipe
[ "$(wc -l <"$root/var/lib/reelsplice/ids.txt")" = "$titles" ]
cp "$work/up/token" "$root/var/lib/reelsplice/tmdb.key"
in_root chown reelsplice: /var/lib/reelsplice/ids.txt /var/lib/reelsplice/tmdb.key
chmod 0600 "$root/var/lib/reelsplice/tmdb.key"

timed "crawl $titles titles" "reelsplice crawl --from http://$other --key-file tmdb.key --out dumps/crawl --ids ids.txt" \
  as_user reelsplice crawl --from "http://$other" --key-file tmdb.key --out dumps/crawl --ids ids.txt
timed ingest "reelsplice ingest dumps" as_user reelsplice ingest dumps
timed build "reelsplice build --publish" as_user reelsplice build --publish
timed token "reelsplice token issue --name me" as_user reelsplice token issue --name me
token=$(sed -n 's/.*\(\brsp_[[:alnum:]]*\).*/\1/p' <<<"$OUTPUT")
[ -n "$token" ] || { echo "first hour: want a token from token issue" >&2 && exit 1; }
timed doctor "reelsplice doctor" as_user reelsplice doctor

serves() {
  # Not a function: its subshell would get the signal, and the edge would survive.
  "${user[@]}" reelsplice serve --shutdown-delay 0s >"$work/serve.log" 2>&1 &
  servers+=($!)
  answers "http://$api" "$token" "$admin" in_root reelsplice
}
timed "serve, first response" "reelsplice serve" serves
timed health "reelsplice health" as_user reelsplice health

# A browser of this machine, which reaches only the edges: posters are placeholders.
browse() {
  chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/chromium" --lang=en-US --hide-scrollbars \
    --host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' --window-size=1280,900 --virtual-time-budget=10000 "$@" 2>"$work/chromium.log"
}
# driver METHOD PATH [BODY]: a WebDriver request.
driver() { curl -sf -m 20 -X "$1" -H 'Content-Type: application/json' "http://127.0.0.1:$driver_port/session$2" ${3:+-d "$3"}; }
script() { driver POST "/$session/execute/sync" "$(jq -n --arg s "$1" '{script: $s, args: []}')" | jq -r .value; }
# view NAME ROUTE TEXT: waits until the view has the text, and takes a picture.
view() {
  script "location.hash = '$2'" >/dev/null
  for _ in $(seq 100); do
    if script "return document.querySelector('main').innerText" | grep -q "$3"; then
      driver GET "/$session/screenshot" | jq -r .value | base64 -d >"$pictures/first-hour-$1.png" && return
    fi
    sleep 0.1
  done
  echo "first hour: $2 of the page has no $3 after 10 s" >&2 && exit 1
}
views() {
  driver_port=$(port)
  chromedriver --port="$driver_port" >"$work/chromedriver.log" 2>&1 &
  servers+=($!)
  for _ in $(seq 100); do
    session=$(jq -n --arg rules 'MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' '{capabilities: {alwaysMatch: {browserName: "chrome", "goog:chromeOptions":
      {args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en-US",
        "--window-size=1280,1100", "--host-resolver-rules=\($rules)"]}}}}' |
      curl -sf -m 30 -H 'Content-Type: application/json' -d @- "http://127.0.0.1:$driver_port/session" | jq -r .value.sessionId) && [ -n "$session" ] && break
    sleep 0.1
  done
  [ -n "$session" ] || { echo "first hour: chromedriver starts no browser" >&2 && exit 1; }
  driver POST "/$session/url" "{\"url\": \"http://$api/#token=$token\"}" >/dev/null
  view movie '#/movie/550' 'Fight Club'
  view splice '#/splice?path=%2F3%2Fmovie%2F550%3Fappend_to_response%3Dcredits%2Cvideos%2Cimages' 'gzip'
  view release '#/release' '188'
}
# start_page prints the page's text about its release, once it shows titles.
start_page() {
  browse --dump-dom "http://$api/#token=$token" >"$work/page.html" && grep -Eq 'href="#/(movie|tv)/[0-9]+"' "$work/page.html" &&
    grep -Eo '[^>]*served by this machine' "$work/page.html"
}
if command -v chromium >/dev/null; then
  timed browser "chromium http://$api/#token=TOKEN" start_page
  has_line 'served by this machine'
  if [ -z "$pictures" ]; then
    skipped+=("pictures: no folder given")
  else
    mkdir -p "$pictures"
    pictures=$(realpath "$pictures")
    browse --screenshot="$pictures/first-hour-no-token.png" "http://$api/" >/dev/null
    browse --screenshot="$pictures/first-hour-start.png" "http://$api/#token=$token" >/dev/null
    if command -v chromedriver >/dev/null; then views; else skipped+=("pictures beyond the start: need chromedriver"); fi
    ls -l "$pictures"/first-hour-*.png
  fi
else
  skipped+=("browser: needs chromium")
fi

# The application: a program as users of moviedb-promise write it, or else curl.
curl_application() {
  curl -sf --compressed -H "Authorization: Bearer $token" "http://$api/3/movie/550?append_to_response=credits" |
    jq -r '"\(.title), \(.credits.cast | length) in the cast"'
}
npm_application() {
  cp -R scripts/clients/{package.json,package-lock.json,.npmrc} "$work/npm/" && cd "$work/npm" &&
    npm ci --fetch-retries=0 --fetch-timeout=20000
}
mkdir "$work/npm"
if command -v node >/dev/null && command -v npm >/dev/null && (npm_application) >"$work/npm.log" 2>&1; then
  cat >"$work/npm/application.mjs" <<'PROGRAM'
import { createRequire } from 'node:module';
const { MovieDb } = createRequire(import.meta.url)('moviedb-promise');
const [base, token] = process.argv.slice(2);
const db = new MovieDb(token, base);
const found = (await db.searchMovie({ query: 'fight club' })).results[0];
const movie = await db.movieInfo({ id: found.id, append_to_response: 'credits' });
console.log(`${movie.title}, ${movie.credits.cast.length} in the cast`);
PROGRAM
  timed "application" "new MovieDb(TOKEN, 'http://$api/3/')" node "$work/npm/application.mjs" "http://$api/3/" "$token"
else
  skipped+=("npm application: needs node, npm and a registry; used curl instead")
  timed "application: curl" "curl -H 'Authorization: Bearer TOKEN' http://$api/3/movie/550?append_to_response=credits" curl_application
fi
has_line '^Fight Club, [1-9][0-9]* in the cast$'

size() { numfmt --to=si --suffix=B "$(stat -c %s "$1")"; }
printf '\n%-22s %8s  %s\n' step seconds command
printf '%s\n' "${rows[@]}"
printf '%-22s %8.2f\n' total "$(seconds "$total")"
printf '\n%s\n' "reelsplice up, empty folder to the first 200: $(seconds "$up") s"
echo "program $(size "$work/reelsplice"), deb $(size "$deb"), catalogue and release $(du -sh --apparent-size "$root/var/lib/reelsplice" | cut -f 1)"
for why in "${skipped[@]}"; do echo "skipped: $why"; done
