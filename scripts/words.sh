#!/usr/bin/env bash
# Counts phrases that stop a reader in code, scripts and documents, and prints the worst files.
#
#   scripts/words.sh [-all] [-limit N]
#
# -all prints each phrase with its place. check.sh fails above a limit, which only falls.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.go' '*.md' 'scripts/*.sh' '.ci/run' | grep -v -e '_test\.go$' -e 'test/[^/]*\.go$' -e '/testdata/' -e '^CHANGELOG\.md$' -e '^scripts/words/' |
  xargs grep -L '^// Code generated ' | go run ./scripts/words "$@"
