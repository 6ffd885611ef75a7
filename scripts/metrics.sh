#!/usr/bin/env bash
# Compares the size and shape of the code with another commit's: lines, files and comments by package, words of the
# documents.
#
#   scripts/metrics.sh [--tests] [--first-run] [COMMIT]
#
# --tests adds the duration of "go test ./...", --first-run the duration of a first "go run" with empty caches, the size
# of its downloads and of its binary. Both run for COMMIT and for this tree.
set -euo pipefail
cd "$(dirname "$0")/.."

tests= first=
commit=df5f37b # before the large reduction of the code
for arg in "$@"; do
  case "$arg" in
    --tests) tests=1 ;;
    --first-run) first=1 ;;
    *) commit=$arg ;;
  esac
done
work=$(mktemp -d)
trap 'git worktree remove --force "$work/before" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/before" "$commit"

# shape TREE: prints lines, files and lines of comments, in total and by package, without generated files. Packages
# named *test and scripts/clients count as tests.
shape() {
  local list
  list=$(mktemp -d -p "$work")
  (cd "$1" && find . -name '*.go' -not -path '*/.*/*' -not -path '*/testdata/*' | sed 's,^\./,,') >"$list/files"
  grep -e '_test\.go$' -e 'test/[^/]*$' -e '^scripts/clients/' "$list/files" >"$list/tests"
  printf 'tests %s\n' "$(cd "$1" && xargs cat <"$list/tests" | wc -l)"
  (cd "$1" && grep -v -x -f "$list/tests" "$list/files" | xargs grep -L -e '^// Code generated .* DO NOT EDIT\.$' | xargs awk '
    FNR == 1 { p = FILENAME; if (!sub("/[^/]*$", "", p)) p = "."; files[p]++ }
    { lines[p]++ }
    /^[ \t]*\/\// { comments[p]++ }
    END {
      for (p in lines) { l += lines[p]; f += files[p]; c += comments[p]; if (files[p] > 20) large++; print p, lines[p] "/" files[p] "/" comments[p] + 0 }
      printf "all %d/%d/%d\npackages %d\npackages-of-more-than-20-files %d\n", l, f, c, length(lines), large
    }')
  for doc in README.md ARCHITECTURE.md; do # words outside code
    printf '%s %s\n' "$doc" "$(awk '/^```/ { code = !code; next } !code' "$1/$doc" | wc -w)"
  done
}
echo "lines/files/lines of comments, and words: before, after"
join -a 1 -a 2 -e - -o 0,1.2,2.2 <(shape "$work/before" | sort) <(shape "$PWD" | sort) | column -t

TIMEFORMAT='%0lR, %0lU and %0lS of CPU'
for tree in "$work/before" "$PWD"; do
  cd "$tree"
  if [ -n "$tests" ]; then
    printf '\n%s: go test ./...: ' "$tree"
    { time go test -count=1 ./... >"$work/test.log" 2>&1 || { echo "fails:"; grep -v '^ok' "$work/test.log"; }; } 2>&1
  fi
  if [ -n "$first" ]; then
    printf '\n%s: first go run: ' "$tree"
    (
      export GOMODCACHE=$work/mod GOCACHE=$work/cache GOFLAGS=-modcacherw
      packages=$(go list -deps ./cmd/reelsplice 2>/dev/null | wc -l)
      rm -rf "$work/mod" "$work/cache"
      { time go build -ldflags '-s -w' -o "$work/reelsplice" ./cmd/reelsplice 2>/dev/null; } 2>&1 # like go run
      echo "$packages packages, $(du -sm "$work/mod/cache" | cut -f1) MB of archives, $(du -sm "$work/mod" | cut -f1) MB with what they hold, a binary of $(($(stat -c %s "$work/reelsplice") / 1000000)) MB"
      rm -rf "$work/mod" "$work/cache"
    )
  fi
done
