#!/usr/bin/env bash
# Runs cmd/bench: the edge beside nginx and Varnish, under the load of wrk. What is missing of
# these three is installed where that is possible: with apt-get, as root.
#
#   scripts/bench.sh [FLAGS]           the whole benchmark; flags are those of cmd/bench
#   scripts/bench.sh --quick [FLAGS]   under three minutes
#   scripts/bench.sh build [FLAGS]     builds beside compression alone
#
# --before COMMIT measures the programs of another commit in the same rounds, and fails when the
# edge is slower than 0.97 times the one of that commit.
set -euo pipefail
cd "$(dirname "$0")/.."

# missing prints the packages whose programs are not there. Servers may lie where only
# root looks.
missing() {
  local pair
  for pair in nginx:nginx varnishd:varnish wrk:wrk; do
    PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "${pair%:*}" >/dev/null || echo "${pair#*:}"
  done
}

if [ "${1:-}" != build ]; then
  mapfile -t packages < <(missing)
  if [ ${#packages[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      # RUNLEVEL=1 keeps the services of the packages from being started.
      { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}"; } >/dev/null 2>&1 ||
        echo "could not install: ${packages[*]}" >&2
    else
      echo "not installed: ${packages[*]} (apt-get install ${packages[*]}, as root)" >&2
    fi
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
go build -o "$work/bench" ./cmd/bench # Ctrl-C reaches it, where "go run" would stand between
"$work/bench" "${args[@]}"
