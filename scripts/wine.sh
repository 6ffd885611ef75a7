#!/usr/bin/env bash
# Runs the Windows build under Wine: ingest, build, publish and prune while an edge serves, and the tests of packages
# that handle files and connections. Without Wine, it prints a message and passes. It tests the calls of the program, but
# neither NTFS nor antivirus software: see docs/reference/platforms.md.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v wine >/dev/null; then
  echo "skipped: wine is not installed (Debian: apt-get install wine)"
  exit 0
fi

work=$(mktemp -d)
export WINEPREFIX="$work/prefix" WINEDEBUG=-all
edge=
trap '[ -z "$edge" ] || kill "$edge" 2>/dev/null || true; wineserver -k 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { echo "wine.sh: $*" >&2; tail -n 5 "$work"/*.err >&2 || true; exit 1; }

# Go programs use a library and a way to remove files that Wine 8 lacks. Use their older forms.
lib=$(go env GOROOT)/src/internal/syscall/windows/at_windows.go
sed 's/^var TestDeleteatFallback bool/var TestDeleteatFallback = true/' "$lib" >"$work/at_windows.go"
printf '{"Replace":{"%s":"%s"}}' "$lib" "$work/at_windows.go" >"$work/overlay.json"
export CGO_ENABLED=0
GOOS=windows GOARCH=amd64 go build -overlay "$work/overlay.json" -o "$work/reelsplice.exe" ./cmd/reelsplice
tests=(schemas/file schemas/object serve/http/connlimit serve/releases)
for pkg in "${tests[@]}"; do
  GOOS=windows GOARCH=amd64 go test -overlay "$work/overlay.json" -c -o "$work/${pkg//\//-}.exe" "./$pkg"
done
wine cmd /c exit >/dev/null 2>&1 # creates the prefix
go run ./scripts/wine "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"

for pkg in "${tests[@]}"; do
  (cd "$pkg" && timeout 660 wine "$work/${pkg//\//-}.exe" -test.short -test.timeout 10m) >"$work/test.err" 2>&1 || { cat "$work/test.err"; fail "tests of $pkg"; }
  echo "ok $pkg"
done

folder="Z:${work//\//\\}"
run() { timeout 600 wine "$work/reelsplice.exe" "$@" 2>>"$work/run.err" | tr -d '\r' || fail "reelsplice $1"; }
mkdir "$work/dumps" "$work/over"
cp data/sample/*.ndjson "$work/dumps"
change() { # TITLE: publishes a release with that title, and prints its id
  printf '{"id":550,"title":"%s"}\n' "$1" >"$work/over/movies.ndjson"
  run ingest --quiet --catalog "$folder\\catalog" --overlay "$folder\\over" >/dev/null
  run build --quiet --catalog "$folder\\catalog" --releases "$folder\\releases" --publish --json | sed -n 's/.*"release": *"\([^"]*\)".*/\1/p'
}
run ingest --quiet --catalog "$folder\\catalog" "$folder\\dumps" >/dev/null
first=$(change First)
[ -n "$first" ] || fail "no first release"
token=$(run token issue --tokens "$folder\\tokens.txt" --name wine)
timeout 3600 wine "$work/reelsplice.exe" serve --releases "$folder\\releases" --tokens "$folder\\tokens.txt" --addr 127.0.0.1:0 --json \
  >"$work/serve.out" 2>"$work/serve.err" &
edge=$!
for _ in $(seq 300); do [ -s "$work/serve.out" ] && break; sleep 0.2; done
url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$work/serve.out")
ask() { curl -s --compressed -H "Authorization: Bearer $token" "$url/3/movie/550?append_to_response=credits,images"; }
serves() { # waits until the edge serves a title
  for _ in $(seq 300); do case $(ask) in *"\"title\":\"$1\""*) return ;; esac; sleep 0.2; done
  fail "the edge does not serve $1: $(ask | head -c 200)"
}
serves First
second=$(change Second)
serves Second
run rollback --releases "$folder\\releases" >/dev/null
serves First
change Third >/dev/null
serves Third
run prune --releases "$folder\\releases" --keep 1 >/dev/null
[ ! -d "$work/releases/$second" ] || fail "release $second was not removed"
serves Third
run verify --releases "$folder\\releases" | grep -q sound || fail "verify"
run token revoke --tokens "$folder\\tokens.txt" --name wine >/dev/null
for _ in $(seq 300); do case $(ask) in *'"status_code":7'*) break ;; esac; sleep 0.2; done
case $(ask) in *'"status_code":7'*) ;; *) fail "a revoked token is accepted" ;; esac
echo "ok releases from $first on: published, rolled back, pruned and verified while an edge served"
