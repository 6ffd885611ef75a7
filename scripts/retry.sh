#!/usr/bin/env bash
# Runs a command, and up to twice more if it fails: a registry or its network may fail once.
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
