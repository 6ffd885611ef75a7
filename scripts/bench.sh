#!/usr/bin/env bash
# Runs cmd/bench, which compares the edge with nginx under load from wrk, and measures ingests and builds. As root, it
# installs nginx and wrk with apt-get if they are missing.
#
#   scripts/bench.sh [--before COMMIT] [FLAGS]   FLAGS of cmd/bench; --quick is the short form
#
# --before COMMIT also measures another commit, in the same rounds. The exit code is 1 if the edge or a build is slower
# than that commit's, by more than 3 % and outside of the interval, or if responses or the release are over 1 % larger.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH="$PATH:/usr/sbin:/usr/local/sbin" # folders of servers
packages=()
for name in nginx wrk; do
  command -v "$name" >/dev/null || packages+=("$name")
done
if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # RUNLEVEL=1 prevents the packages from starting their services.
    { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}"; } >/dev/null 2>&1 ||
      echo "could not install: ${packages[*]}" >&2
  else
    echo "not installed: ${packages[*]} (apt-get install ${packages[*]}, as root)" >&2
  fi
fi

args=()
before=
while [ $# -gt 0 ]; do
  case "$1" in
    --before) before=$2; shift ;;
    *) args+=("$1") ;;
  esac
  shift
done

work=$(mktemp -d)
finish() {
  [ -z "$before" ] || git worktree remove --force "$work/before" || true
  rm -rf "$work"
}
trap finish EXIT
go build -o "$work/reelsplice" ./cmd/reelsplice
args+=(--program "$work/reelsplice")
if [ -n "$before" ]; then
  git worktree add --quiet --detach "$work/before" "$before"
  (cd "$work/before" && go build -o "$work/reelsplice-before" ./cmd/reelsplice)
  args+=(--before "$work/reelsplice-before")
fi
go build -o "$work/bench" ./cmd/bench # "go run" would not forward Ctrl-C
"$work/bench" "${args[@]}"
