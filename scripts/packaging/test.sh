#!/usr/bin/env bash
# Tests the packages. A step without its tools is skipped; the end lists the steps that ran, and the others with the
# reason. Servers listen only on 127.0.0.1, and nothing is installed on this machine.
#
#   scripts/packaging/test.sh --quick   units, chart, Compose file, settings, system calls (what check.sh runs)
#   scripts/packaging/test.sh           all: also archives, deb, rpm and image, and whether releases are reproducible
set -euo pipefail
cd "$(dirname "$0")/../.."

quick=
case "${1:-}" in
  --quick) quick=yes ;;
  "") ;;
  *) echo "usage: $0 [--quick]" >&2 && exit 2 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
done_steps=() skipped=()
step() { printf -- '-- %s (%ss)\n' "$1" "$SECONDS" && done_steps+=("$1"); }
# needs NAME PROGRAM...: succeeds if the programs of a step exist. The name root requires root.
needs() {
  local name=$1 program
  shift
  for program in "$@"; do
    if [ "$program" = root ]; then
      [ "$(id -u)" = 0 ] || { skipped+=("$name: needs root") && return 1; }
    elif ! command -v "$program" >/dev/null; then
      skipped+=("$name: needs $program") && return 1
    fi
  done
}

program=$work/bin/reelsplice
CGO_ENABLED=0 go build -o "$program" ./cmd/reelsplice

if needs units systemd-analyze; then
  step units
  # Replace the program in the units by an existing one.
  for unit in scripts/packaging/systemd/*; do sed "s#/usr/bin/reelsplice#$program#" "$unit" >"$work/$(basename "$unit")"; done
  systemd-analyze verify --man=no "$work"/reelsplice*.service "$work"/reelsplice*.timer 2>"$work/verify" || true
  if grep -F reelsplice "$work/verify"; then exit 1; fi
  for unit in "$work"/*.service; do
    systemd-analyze security --no-pager --offline=true --threshold=20 "$unit" | tail -n 1 # limit: 2.0 of 10
  done
fi

step settings # the program accepts all settings of the packages
grep -q '^\[serve\]' scripts/packaging/reelsplice.toml
"$program" --config scripts/packaging/reelsplice.toml version >/dev/null
if "$program" --config scripts/packaging/reelsplice.toml releases >"$work/out" 2>&1; then
  skipped+=("settings: this machine has releases in /var/lib/reelsplice")
elif ! grep -q /var/lib/reelsplice/releases "$work/out"; then
  cat "$work/out" && exit 1
fi

step scripts # the package prints the commands of install.md
grep '^  sudo ' scripts/packaging/scripts/postinstall.sh | sed 's/^  //' >"$work/commands"
[ "$(wc -l <"$work/commands")" = 4 ]
while read -r line; do
  grep -qFx -- "$line" docs/how-to/install.md || { echo "install.md lacks the command $line" >&2 && exit 1; }
done <"$work/commands"

step "chart and Compose file"
(cd scripts/packaging/manifests && ../../retry.sh go mod download && REELSPLICE="$program" go test ./...)

if needs "system calls" root strace systemd-analyze curl setpriv; then
  step "system calls"
  scripts/packaging/test-syscalls.sh "$program"
fi

if [ -z "$quick" ]; then
  step "archives and packages"
  scripts/packaging/release.sh --targets linux_amd64
  mkdir "$work/first" "$work/archive"
  cp dist/* "$work/first/"
  tar xzf dist/*_linux_amd64.tar.gz --strip-components=1 -C "$work/archive"
  "$work/archive/reelsplice" version
  for file in LICENSE README.md man/reelsplice.1 completions/_reelsplice docs/how-to/install.md docs/how-to/applications/kodi.md \
    docs/reference/monitoring/alerts.yml docs/explanation/sizing.md ingest/layout/docs/tmdb.md systemd/reelsplice.service etc/reelsplice.toml; do
    [ -s "$work/archive/$file" ] || { echo "the archive has no $file" >&2 && exit 1; }
  done
  grep -q '"bomFormat": "CycloneDX"' dist/*.cdx.json
  grep -q 'pkg:golang/github.com/valyala/fasthttp@' dist/*.cdx.json

  step "the same again"
  scripts/packaging/release.sh --targets linux_amd64 >/dev/null
  diff -r "$work/first" dist

  if needs deb root mmdebstrap chroot curl; then
    step deb
    scripts/packaging/test-deb.sh dist/*_linux_amd64.deb
  fi
  if needs rpm root rpm chroot; then
    step rpm
    scripts/packaging/test-rpm.sh dist/*_linux_amd64.rpm
  fi
  if needs image root buildah chroot curl; then
    step image
    scripts/packaging/image.sh "$work/archive/reelsplice" localhost/reelsplice:test
    scripts/packaging/test-image.sh localhost/reelsplice:test
  fi
  if needs "image compiled by the Dockerfile" root buildah mmdebstrap; then
    step "image compiled by the Dockerfile"
    scripts/packaging/test-dockerfile.sh
  fi
fi

printf '\npackages: tested %s\n' "$(IFS=,; echo "${done_steps[*]}")"
for why in "${skipped[@]}"; do echo "skipped: $why"; done
