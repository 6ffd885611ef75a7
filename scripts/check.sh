#!/usr/bin/env bash
# The checks that a person and CI run: format, lint with vet in it, all tests, those of concurrent code with
# the race detector, a short fuzz of every target, one run of every benchmark, and a tree
# that "go generate" and "go mod tidy" leave as it is. Needs Go and git only; the
# linter is built from its pinned source. Where there is npm, clients that others wrote
# are run too.
set -euo pipefail
cd "$(dirname "$0")/.."

LINT=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZ_RUNS="${FUZZ_RUNS:-}" # inputs or time for each fuzz target: 1000 inputs by default, and then without instruments

# Only a test that hangs takes so long, on a busy machine too. In the environment, the results of .ci/run stay cached.
[[ "$(go env GOFLAGS)" = *-timeout=* ]] || export GOFLAGS="$(go env GOFLAGS) -timeout=30m"

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

step "modules"
scripts/retry.sh go mod download

step "format"
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not formatted by gofmt:\n%s\n' "$unformatted"
  exit 1
fi

step "lint" # vet with all its checks too
scripts/retry.sh go run "$LINT" version # fetches and builds it
go run "$LINT" run --timeout 10m

step "tests, the long ones too"
# Long tests walk large real dumps, many seeds and every order; "go test ./..." takes a part of each.
REELSPLICE_LONG_TESTS=1 go test ./... # in their order: results of packages without long tests are cached

# From here on the files of tests lie in memory where there is plenty: they are made and removed
# by the ten thousand. The tests above had them on the disk. What go links stays there.
work=$(mktemp -d)
trap 'rm -rf "$work" "${memory:-}"' EXIT
if [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt $((8 << 20)) ] 2>/dev/null && memory=$(mktemp -d /dev/shm/reelsplice-XXXXXX); then
  export GOTMPDIR="$work" TMPDIR="$memory"
fi

step "tests with the race detector"
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
  # Packages that start goroutines, in code or in tests: what they share with others is found there.
  starts='(^|[[:space:]])go (func|[a-zA-Z.]+\()|errgroup\.|\.Go\(func|t\.Parallel'
  mapfile -t concurrent < <(go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r pkg dir; do
    if grep -qE "$starts" "$dir"/*.go; then echo "$pkg"; fi
  done)
  # -short: the largest dumps and most scripts of commands pass by once, without the detector. -skip: so do
  # long tests of one goroutine, of a process that is killed at each of many places, or of many processes,
  # which start slowly under the detector.
  go test -race -vet=off -short -shuffle=on "${concurrent[@]}" -skip \
    '^(TestParquet.*|TestHugeLine|TestCompressionBombs|TestDamaged(Streams|Part|Table)|TestSettings|TestMemory|TestPure|TestCancelledAnywhere|TestInputs|TestSealInterrupted|TestLogReader|TestSystemd)$'
else
  echo "skipped: the race detector needs a C compiler, and there is none"
fi

step "fuzz"
# The targets of a package share one test program: what "go test -fuzz" finds stays in the same places, and it
# would link one for each. The fuzzer's instruments compile all libraries once more, and guide it in far more than
# 1000 inputs only.
instruments=()
[ -z "$FUZZ_RUNS" ] || instruments=(-fuzz .)
corpus=$(go env GOCACHE)/fuzz
while read -r pkg dir; do
  targets=$(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go 2>/dev/null | cut -c6- || true)
  [ -n "$targets" ] || continue
  go test -c "${instruments[@]}" -o "$work/fuzz.test" "$pkg"
  for target in $targets; do
    echo "$pkg $target"
    (cd "$dir" && "$work/fuzz.test" -test.paniconexit0 -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "${FUZZ_RUNS:-1000x}" \
      -test.fuzzminimizetime 1x -test.fuzzcachedir "$corpus/$pkg") >"$work/fuzz.log" 2>&1 || { cat "$work/fuzz.log"; exit 1; }
    tail -n 1 "$work/fuzz.log"
  done
done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)

step "benchmarks, once each"
mapfile -t benchmarks < <(git ls-files '*_test.go' | xargs grep -l '^func Benchmark' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
go test -vet=off -run '^$' -bench . -benchtime 1x "${benchmarks[@]}" | tail -n 3

step "a build on Slurm"
scripts/engines/slurm.sh --count 3 # passes with a message where Slurm cannot be installed

step "the document for Argo, by Argo's types"
(cd scripts/engines/argo && ../../retry.sh go mod download && go test ./...)

step "packages: units, chart, Compose file"
scripts/packaging/test.sh --quick # says what it skips where tools are absent

step "no cgo, on each platform with an archive"
# The packaged build has all clouds, whose libraries and files are the same on each platform: one is built with them here,
# the others by the release. Vet checks the types of tests too, of packages with files of Windows, which differs most.
mapfile -t portable < <(git ls-files '*_windows*.go' '*_other*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
for platform in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do
  echo "$platform"
  CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -o /dev/null ./cmd/reelsplice
done
CGO_ENABLED=0 GOOS=windows go vet "${portable[@]}"

step "the Windows build under Wine"
TMPDIR="$work" scripts/wine.sh # on the disk, since Wine lists no folder below /dev; passes with a message where there is no Wine

step "clients of others"
scripts/clients/run.sh # passes over those that cannot be fetched here

step "a client generated from the OpenAPI document"
scripts/openapi-client/run.sh # passes with a message where its modules cannot be fetched

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
printf '\nall checks passed (%ss)\n' "$SECONDS"
