#!/usr/bin/env bash
# Asks a running edge for a five-part response and has it read by gzip, curl, Python's
# zlib, Node and headless Chromium. Each must see the same bytes as in the identity
# response. Clients that are not installed are named and skipped.
#
#   scripts/decoders.sh            builds, starts "reelsplice up" on a free port, stops it again
#
# Needs curl, gzip, sha256sum; python3, node and chromium where they are to be tried.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
server=
finish() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT

go build -o "$work/reelsplice" ./cmd/reelsplice
"$work/reelsplice" up --dir "$work/data" --addr 127.0.0.1:0 --allow-query-key --json --quiet >"$work/up.json" 2>"$work/up.log" &
server=$!
for _ in $(seq 100); do [ -s "$work/up.json" ] && break; sleep 0.1; done
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/up.json"; }
url=$(field url)
token=$(field token)
[ -n "$url" ] || { cat "$work/up.log" >&2; exit 1; }
ask="$url/3/movie/550?append_to_response=credits,videos,images,release_dates,watch/providers"

curl -sf -H "Authorization: Bearer $token" "$ask" -o "$work/identity.json"
curl -sf -H "Authorization: Bearer $token" -H 'Accept-Encoding: gzip' "$ask" -o "$work/response.gz"
want=$(sha256sum <"$work/identity.json")
printf 'identity %s bytes, gzip %s bytes\n' "$(wc -c <"$work/identity.json")" "$(wc -c <"$work/response.gz")"

failed=0
verdict() { # name, file that the client wrote
  if [ "$(sha256sum <"$2")" = "$want" ]; then echo "$1: reads the whole response"; else
    echo "$1: reads $(wc -c <"$2") bytes of $(wc -c <"$work/identity.json")"
    failed=1
  fi
}

gzip -t "$work/response.gz" && echo "gzip -t: ok"
gzip -dc "$work/response.gz" >"$work/gzip.out"
verdict "gzip -d" "$work/gzip.out"
curl -sf --compressed -H "Authorization: Bearer $token" "$ask" -o "$work/curl.out"
verdict "curl --compressed" "$work/curl.out"

if command -v python3 >/dev/null; then
  python3 - "$work" <<'PY'
import sys, zlib
d = zlib.decompressobj(31)  # stops after the first member
out = d.decompress(open(sys.argv[1] + "/response.gz", "rb").read()) + d.flush()
assert d.eof and not d.unused_data
open(sys.argv[1] + "/python.out", "wb").write(out)
PY
  verdict "Python zlib.decompressobj(31)" "$work/python.out"
else echo "python3: not installed"; fi

if command -v node >/dev/null; then
  URL="$ask" TOKEN="$token" OUT="$work/node.out" node -e '
    fetch(process.env.URL, {headers: {Authorization: "Bearer " + process.env.TOKEN, "Accept-Encoding": "gzip"}})
      .then(r => r.arrayBuffer()).then(b => require("fs").writeFileSync(process.env.OUT, Buffer.from(b)))'
  verdict "Node fetch" "$work/node.out"
else echo "node: not installed"; fi

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -n "$chromium" ]; then
  timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$work/profile" --dump-dom "$ask&api_key=$token" 2>/dev/null >"$work/page.html"
  # The page shows the JSON as text in a <pre>.
  python3 - "$work" <<'PY'
import html, re, sys
page = open(sys.argv[1] + "/page.html", encoding="utf-8").read()
text = re.search(r"<pre[^>]*>(.*?)</pre>", page, re.S).group(1)
open(sys.argv[1] + "/chromium.out", "wb").write(html.unescape(text).encode())
PY
  verdict "Chromium" "$work/chromium.out"
else echo "chromium: not installed"; fi
exit $failed
