#!/usr/bin/env bash
# Runs "reelsplice bench" beside nginx and Varnish, under the load of wrk. What is missing
# of these three is installed where that is possible: with apt-get, as root.
#
#   scripts/bench.sh [FLAGS]           the whole benchmark; flags are those of "reelsplice bench"
#   scripts/bench.sh --quick [FLAGS]   under three minutes; fails when a ratio is below 0.9
#                                      times the one in scripts/bench-ratios.json
#   scripts/bench.sh --store [FLAGS]   the same, and writes the ratios there
#   scripts/bench.sh build [FLAGS]     builds beside compression alone
set -euo pipefail
cd "$(dirname "$0")/.."

RATIOS=scripts/bench-ratios.json

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
for arg in "$@"; do
  case "$arg" in
    --quick) args+=(--quick --ratios "$RATIOS") ;;
    --store) args+=(--quick --ratios "$RATIOS" --store) ;;
    *) args+=("$arg") ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/reelsplice" ./cmd/reelsplice
"$work/reelsplice" bench "${args[@]}"
