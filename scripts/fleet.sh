#!/usr/bin/env bash
# Runs three edges over one bucket behind HAProxy on 127.0.0.1, under bounded load, and prints a table: releases are
# switched with a canary step while edges are killed and started. HAProxy is installed where it is missing and
# that is possible: with apt-get, as root. It takes some minutes.
#
#   scripts/fleet.sh [--movies N] [--nights N] [--rate N]
#
# The exit code is 1 if a request of the client failed, ETags of one release differ, or a night moved more than 10 % of
# a release to an edge.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:/usr/sbin:/usr/local/sbin"
if ! command -v haproxy >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # RUNLEVEL=1 keeps the service of the package from being started.
    { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq haproxy; } >/dev/null 2>&1 || true
  fi
  command -v haproxy >/dev/null || { echo "not installed: haproxy (apt-get install haproxy, as root)" >&2; exit 2; }
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/reelsplice" ./cmd/reelsplice
go build -o "$work/fleet" ./scripts/fleet
"$work/fleet" --program "$work/reelsplice" --dir "$work" "$@"
