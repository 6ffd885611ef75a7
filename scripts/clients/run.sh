#!/usr/bin/env bash
# Calls all read methods of third-party clients on "reelsplice up", and prints a table of the methods. Exits with 1 if one
# fails; skips clients that cannot be downloaded. See README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
limit=1200 # seconds for all except the build of reelsplice: a minute or two, more with slow registries

if [ -z "${CLIENTS_DIR:-}" ]; then
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  (cd "$root" && CGO_ENABLED=0 go build -o "$dir/reelsplice" ./cmd/reelsplice)
  # timeout has its own process group: forward Ctrl-C to it.
  CLIENTS_DIR=$dir timeout --kill-after=10 "$limit" "$here/run.sh" &
  bounded=$!
  trap 'kill "$bounded" 2>/dev/null; wait "$bounded"; exit 130' INT TERM
  code=0
  wait "$bounded" || code=$?
  [ "$code" != 124 ] || echo "clients: not done after $limit seconds" >&2
  exit "$code"
fi

dir=$CLIENTS_DIR
bin=$dir/reelsplice
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$server" ] || wait "$server" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 143' TERM INT

# step NAME COMMAND...: runs a command, and prints its output only if it fails.
step() {
  local name=$1
  shift
  "$@" >"$dir/log" 2>&1 || {
    echo "clients: $name failed:" >&2
    cat "$dir/log" >&2
    return 1
  }
}

# Two releases of the sample, a list and an account, so that there are changes.
step "ingest" "$bin" ingest --catalog "$dir/catalog" "$root"/data/sample/*.ndjson "$here"/dumps/*.ndjson
step "build" "$bin" build --catalog "$dir/catalog" --releases "$dir/releases" --publish
step "update" "$bin" ingest --catalog "$dir/catalog" --update "$here"/dumps/changed/*.ndjson
step "second build" "$bin" build --catalog "$dir/catalog" --releases "$dir/releases" --publish

step "session" "$bin" token issue --tokens "$dir/tokens.txt" --session 7001
session=$(tail -n 1 "$dir/log")
step "user token" "$bin" token issue --tokens "$dir/tokens.txt" --session 7001 --v4
user=$(tail -n 1 "$dir/log")
step "guest" "$bin" token issue --tokens "$dir/tokens.txt" --session 5f1e2d3c4b5a69788796a5b4c3d2e1f0 --guest
guest=$(tail -n 1 "$dir/log")

"$bin" up --dir "$dir" --addr 127.0.0.1:0 --allow-query-key --json >"$dir/up.json" 2>"$dir/up.log" &
server=$!
for _ in $(seq 3000); do
  [ ! -s "$dir/up.json" ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$dir/up.json"; }
REELSPLICE_URL=$(field url)
REELSPLICE_TOKEN=$(field token)
REELSPLICE_SESSION=$session
REELSPLICE_USER=$user
REELSPLICE_GUEST=$guest
if [ -z "$REELSPLICE_URL" ]; then
  echo "clients: reelsplice up does not serve:" >&2
  cat "$dir/up.log" >&2
  exit 1
fi
export REELSPLICE_URL REELSPLICE_TOKEN REELSPLICE_SESSION REELSPLICE_USER REELSPLICE_GUEST
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

failed=0 ran=0 fetched=()

# Clients of npm, in a copy, so that the checkout stays clean.
npm_clients() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "skipped: tmdb-ts, moviedb-promise: node and npm are not installed"
    return
  fi
  mkdir "$dir/npm"
  cp -R "$here"/{package.json,package-lock.json,.npmrc,lib,tmdb-ts.mjs,moviedb-promise.mjs} "$dir/npm"
  cd "$dir/npm"
  if ! npm ci --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=10000 --fetch-timeout=60000 >"$dir/log" 2>&1; then
    if grep -qE '^npm (ERR!|error) code (EINTEGRITY|EUSAGE|EJSONPARSE|ETARGET|E404)' "$dir/log"; then # our files are wrong, not the network
      echo "clients: npm ci failed:" >&2
      cat "$dir/log" >&2
      failed=1
    else
      echo "skipped: tmdb-ts, moviedb-promise: npm cannot fetch them from here"
      grep -E '^npm (ERR!|error) code' "$dir/log" || true
    fi
    return
  fi
  for program in tmdb-ts moviedb-promise; do
    ran=$((ran + 1))
    fetched+=("$program")
    node "$program.mjs" || failed=1
  done
}

# The Go client has its own module, so that ours does not require it.
go_client() {
  cd "$here/golang-tmdb"
  if ! "$root/scripts/retry.sh" go mod download >"$dir/log" 2>&1; then
    if grep -q 'SECURITY ERROR' "$dir/log"; then
      cat "$dir/log" >&2
      failed=1
    else
      echo "skipped: golang-tmdb: no Go proxy is reachable from here"
    fi
    return
  fi
  ran=$((ran + 1))
  go vet ./... || failed=1
  if go build -o "$dir/golang-tmdb" .; then
    fetched+=(golang-tmdb)
    "$dir/golang-tmdb" || failed=1
  else
    failed=1
  fi
}

# The same clients and others, with their built-in host.
builtin_clients() {
  local programs=("${fetched[@]}")
  if ! command -v unshare >/dev/null || ! command -v ip >/dev/null || ! unshare --user --map-root-user --net --mount true 2>/dev/null; then
    echo "skipped: clients with a built-in host: no namespaces here (unshare, ip)"
    return
  fi
  step "cert" "$bin" cert --out "$dir/certs" --name api.themoviedb.org || { failed=1; return; }
  stop # builtin.sh serves the same folder
  server=
  ! command -v curl >/dev/null || programs+=(curl)
  ! python3 -c '' 2>/dev/null || programs+=(urllib)
  ! python3 -c 'import requests' 2>/dev/null || programs+=(requests)
  ! command -v keytool >/dev/null || ! command -v java >/dev/null || programs+=(java)
  unshare --user --map-root-user --net --mount "$here/builtin.sh" "$dir" "${programs[@]}" || failed=1
}

npm_clients
go_client
builtin_clients
result="all of them passed"
[ "$ran" != 0 ] || result="so nothing was tested"
[ "$failed" = 0 ] || result="some failed"
echo "clients: $ran of 3 ran, $result"
exit "$failed"
