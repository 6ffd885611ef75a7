#!/usr/bin/env bash
# Sets the module path of a fork, so that "go install" finds it: in go.mod, imports, the linter's rules, README.md and the
# installation guide.
#
#   scripts/module.sh example.org/team/reelsplice
set -euo pipefail
cd "$(dirname "$0")/.."

new="${1:?want the new module path}"
old=$(go list -m)
folders='ingest|build|serve|data|schemas|cmd|scripts'
git ls-files '*.go' '*go.mod' .golangci.yml README.md docs/how-to/install.md |
  OLD="$old" NEW="$new" xargs perl -pi -e "s{(?<![\\w./-])\\Q\$ENV{OLD}\\E(?=/(?:$folders)\\b)}{\$ENV{NEW}}g"
go mod edit -module "$new"
git ls-files "*.go" | xargs gofmt -w # the order of imports may change
