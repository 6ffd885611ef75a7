#!/usr/bin/env bash
# Generates Go clients from the OpenAPI documents (3.1 and 3.0) with oapi-codegen, and calls an edge with them. If the
# generator's modules cannot be downloaded, it prints a message and passes. It exits with 1 if a client does not compile
# or a call differs from the document.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$server" ] || wait "$server" 2>/dev/null || true
  rm -rf "$dir"
}
trap stop EXIT
trap 'exit 143' TERM INT

# In a copy, so that the checkout stays clean.
mkdir "$dir/client"
cp "$here"/{go.mod,go.sum,client_test.go,oapi-codegen.yaml} "$dir/client"
if ! (cd "$dir/client" && "$root/scripts/retry.sh" go mod download) >"$dir/log" 2>&1; then
  if grep -q 'SECURITY ERROR' "$dir/log"; then
    cat "$dir/log" >&2
    exit 1
  fi
  echo "skipped: openapi-client: no Go proxy is reachable from here"
  exit 0
fi

(cd "$root" && CGO_ENABLED=0 go build -o "$dir/reelsplice" ./cmd/reelsplice)
"$dir/reelsplice" up --dir "$dir/up" --addr 127.0.0.1:0 --json >"$dir/up.json" 2>"$dir/up.log" &
server=$!
for _ in $(seq 3000); do
  [ ! -s "$dir/up.json" ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$dir/up.json"; }
REELSPLICE_URL=$(field url)
REELSPLICE_TOKEN=$(field token)
if [ -z "$REELSPLICE_URL" ]; then
  echo "openapi-client: reelsplice up does not serve:" >&2
  cat "$dir/up.log" >&2
  exit 1
fi
export REELSPLICE_URL REELSPLICE_TOKEN
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

cd "$dir/client"
mkdir tmdb
for spec in 3.1 3.0; do
  "$dir/reelsplice" openapi --spec "$spec" --out openapi.json
  go tool oapi-codegen -config oapi-codegen.yaml openapi.json
  printf 'OpenAPI %s: ' "$spec"
  go test -count=1 .
done
