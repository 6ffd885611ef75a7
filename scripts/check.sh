#!/usr/bin/env bash
# Runs the checks. Each step prints how long it took.
#
#   scripts/check.sh          every change: format, lint with vet, tests, race detector, short fuzz, benchmarks
#                             once, vet for Windows, a clean tree. Needs Go and git only.
#   scripts/check.sh --full   before a release: also long tests, engines, packages, fronts, clients, Wine and all
#                             platforms. A step without its tools prints a message and passes.
#   scripts/check.sh --tested every change, without the tests, which have just passed.
#
# FUZZ_RUNS is the number of inputs or the time for each fuzz target, 1000x by default. A time such as 30s fuzzes with
# coverage guidance.
set -euo pipefail
cd "$(dirname "$0")/.."

full='' tested=''
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  --tested) tested=yes ;;
  *) echo "usage: $0 [--full | --tested]" >&2 && exit 2 ;;
esac

LINT=v2.15.0 # golangci-lint
ACTIONLINT=v1.7.12
VULN=v1.9.0 # govulncheck

# Packages whose goroutines share memory: the race detector runs their tests.
shared=(
  serve/http serve/http/connlimit # connections, prepared responses, counts by address
  serve serve/releases serve/edge # requests during a switch of the release
  serve/query                     # caches of pages and orders
  serve/pull serve/follow serve/observe # background loops during requests
  schemas/release                 # checksums of first use, by many readers
  schemas/release/store           # puts and gets in parallel
  schemas/catalog                 # row groups in parallel, in order
  ingest/crawl                    # tasks at one pace
  build/array build/work          # tasks of one folder
)

# Only a hanging test takes longer.
[[ "$(go env GOFLAGS)" = *-timeout=* ]] || export GOFLAGS="$(go env GOFLAGS) -timeout=30m"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name= start=0
step() { # ends the previous step, prints its seconds, and begins NAME
  [ -z "$name" ] || printf -- '-- %s: %s s\n' "$name" $((SECONDS - start))
  name=$1 start=$SECONDS
  [ -z "$name" ] || printf '\n== %s\n' "$name"
}

cached() { # NAME PACKAGE@VERSION: sets program to the path of a tool, which it installs into the cache if missing
  local dir
  dir=$(go env GOCACHE)/$1/${2#*@}-$(go env GOVERSION)
  if [ ! -x "$dir/$1" ]; then
    GOBIN=$work/$1 scripts/retry.sh go install "$2"
    mkdir -p "$(dirname "$dir")"
    rm -rf "$dir" && mv "$work/$1" "$dir"
  fi
  program=$dir/$1
}

step modules
scripts/retry.sh go mod download

step format
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not formatted by gofmt:\n%s\n' "$unformatted"
  exit 1
fi

step words # phrases that stop a reader: the limit only falls
scripts/words.sh -limit 40

step lint # includes go vet. The cache has a program for each version of a linter and of Go
cached golangci-lint "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$LINT"
"$program" run --timeout 10m

step workflows # without shellcheck and pyflakes, which few machines have
cached actionlint "github.com/rhysd/actionlint/cmd/actionlint@$ACTIONLINT"
"$program" -shellcheck= -pyflakes=

if [ -n "$full" ]; then
  step "tests, the long ones too" # large real dumps, many seeds, every order
  REELSPLICE_LONG_TESTS=1 go test ./...

  step "tests with random inputs, five times"
  mapfile -t random < <(git grep -lE '"pgregory.net/rapid"|rand\.Shuffle\(' -- '*_test.go' | xargs -n 1 dirname | sort -u)
  go test -count=5 "${random[@]/#/./}"
elif [ -z "$tested" ]; then
  step tests
  go test ./... # the README's command: its results are cached
fi

step "race detector"
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
  # -short: large dumps are tested without the detector. -skip: long tests of one goroutine or of many processes.
  go test -race -vet=off -short ${full:+-shuffle=on} -skip '^(TestDamaged(Part|Table)|TestDamagedPrevious|TestSealInterrupted|TestDiscover|TestSortPlaces|TestCopy|TestVerifyFindsEveryFlip|TestVersions|TestOpenNamesFile|TestComposition|TestFlips)$' "${shared[@]/#/./}"
  go test -race -vet=off -short -run '^(TestOrder|TestScript)$/tables' ./ingest # batches in parallel, in order
else
  echo "skipped: the race detector needs a C compiler"
fi

step "fuzz and benchmarks: programs" # one per package: "go test -fuzz" would link one per target
mapfile -t packages < <(git ls-files '*_test.go' | xargs grep -lE '^func (Fuzz|Benchmark)' | xargs -n 1 dirname | sort -u)
# Coverage guidance recompiles all libraries, and pays off only after far more than 1000 inputs.
instruments=()
[ -z "${FUZZ_RUNS:-}" ] || instruments=(-fuzz .)
go test -c -vet=off -ldflags '-s -w' "${instruments[@]}" -o "$work/" "${packages[@]/#/./}"

step fuzz
corpus=$(go env GOCACHE)/fuzz
fuzz() { # runs a target: FOLDER NAME
  local program=$work/${1##*/}.test log
  log=$(cd "$1" && "$program" -test.paniconexit0 -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "${FUZZ_RUNS:-1000x}" \
    -test.parallel 1 -test.fuzzminimizetime 1x -test.fuzzcachedir "$corpus/$1" 2>&1) || { printf '%s %s\n%s\n' "$1" "$2" "$log" && return 1; }
  printf '%s %s: %s\n' "$1" "$2" "$(tail -n 1 <<<"$log")"
}
export -f fuzz
export work corpus
for dir in "${packages[@]}"; do
  { grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go || true; } | sed "s|^func |$dir |"
done | xargs -r -L 1 -P "$(nproc)" bash -c 'fuzz "$@"' fuzz

step "benchmarks, once each"
for dir in "${packages[@]}"; do
  grep -q '^func Benchmark' "$dir"/*_test.go || continue
  (cd "$dir" && "$work/${dir##*/}.test" -test.run '^$' -test.bench . -test.benchtime 1x) >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
done

step "vet for Windows" # packages with platform-specific files, and their tests: Windows differs most
mapfile -t portable < <(git ls-files '*_windows*.go' '*_other*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
CGO_ENABLED=0 GOOS=windows go vet "${portable[@]}"

if [ -n "$full" ]; then
  step "a build on Slurm"
  scripts/engines/slurm.sh --count 3

  step "system calls that fail, and kills at them"
  scripts/faults.sh

  step "edges under load while everything changes"
  scripts/soak.sh --minutes 1

  step "packages: units, chart, Compose file"
  scripts/packaging/test.sh --quick

  step "no cgo, on each platform with an archive"
  for platform in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do
    echo "$platform"
    CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -o /dev/null ./cmd/reelsplice
  done

  step "the same program from another folder"
  mkdir "$work/elsewhere"
  git ls-files -z | xargs -0 cp --parents -t "$work/elsewhere"
  for dir in "$PWD" "$work/elsewhere"; do
    (cd "$dir" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$work/reelsplice-of-${dir##*/}" ./cmd/reelsplice)
  done
  cmp "$work/reelsplice-of-${PWD##*/}" "$work/reelsplice-of-elsewhere" && sha256sum "$work/reelsplice-of-elsewhere"

  step "known vulnerabilities of what the program calls"
  vulnerabilities=${GOVULNDB:-https://vuln.go.dev}
  if [[ "$vulnerabilities" = file:* ]] || curl -fsS -m 20 -o "$work/db.json" "$vulnerabilities/index/db.json"; then
    go run "golang.org/x/vuln/cmd/govulncheck@$VULN" -db "$vulnerabilities" ./cmd/reelsplice
  else
    echo "skipped: $vulnerabilities does not respond; set GOVULNDB to a mirror"
  fi

  step "the Windows build under Wine"
  scripts/wine.sh

  step "clients of others"
  scripts/clients/run.sh

  step "a client generated from the OpenAPI document"
  scripts/openapi-client/run.sh
fi

step "clean tree after go generate and go mod tidy"
before=$(git status --porcelain)
go generate ./...
scripts/retry.sh go mod tidy
go mod verify >/dev/null
after=$(git status --porcelain)
if [ "$before" != "$after" ]; then
  printf 'go generate or go mod tidy changes the tree:\n%s\n' "$(git diff --stat)"
  exit 1
fi
step ""
printf '\nall checks passed (%s s)\n' "$SECONDS"
