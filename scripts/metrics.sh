#!/usr/bin/env bash
# Prints the size and shape of the code beside those of another commit: lines, files and
# comments by package, the largest types, words a sentence of the documents.
#
#   scripts/metrics.sh [--tests] [--first-run] [COMMIT]
#
# --tests adds the seconds of "go test ./...", --first-run those of a first "go run" with
# empty caches, its downloads and its binary. Both run twice: for COMMIT and for this tree.
set -euo pipefail
cd "$(dirname "$0")/.."

flags=()
commit=df5f37b # the last before the code was cut anew
for arg in "$@"; do
  case "$arg" in
    --*) flags+=("$arg") ;;
    *) commit=$arg ;;
  esac
done
work=$(mktemp -d)
trap 'git worktree remove --force "$work/before" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/before" "$commit"
go run ./scripts/metrics "${flags[@]}" "$work/before" "$PWD"
