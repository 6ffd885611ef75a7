#!/usr/bin/env bash
# Runs a command, and retries it twice if it fails, such as for a temporary failure of a registry.
#
#   scripts/retry.sh COMMAND...
set -uo pipefail
trap 'exit 130' INT
trap 'exit 143' TERM
for pause in 2 10; do
  "$@" && exit
  sleep "$pause"
done
exec "$@"
