#!/usr/bin/env bash
# Makes the content of the image in DIR: root has the program, compiled here or given, and this system's CA
# certificates; data is the folder that the program writes to, owned by its user.
#
#   scripts/packaging/rootfs.sh DIR [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=${1:?want a folder for the content} program=${2:-}
certificates=/etc/ssl/certs/ca-certificates.crt
if [ ! -s "$certificates" ]; then
  echo "$certificates is missing: install ca-certificates" >&2
  exit 1
fi
rm -rf "$dir"
umask 022 # the image's user must read root's files
mkdir -p "$dir/data"
dir+=/root
mkdir -p "$dir/tmp" "$dir/etc/ssl/certs"
chmod 1777 "$dir/tmp"
install -m 0644 "$certificates" "$dir/etc/ssl/certs/ca-certificates.crt"
echo 'reelsplice:x:65532:65532::/data:/reelsplice' >"$dir/etc/passwd"
echo 'reelsplice:x:65532:' >"$dir/etc/group"
if [ -n "$program" ]; then
  install -m 0755 "$program" "$dir/reelsplice"
else
  vcs=false
  if git rev-parse HEAD >/dev/null 2>&1; then vcs=true; fi
  CGO_ENABLED=0 go build -trimpath -buildvcs=$vcs -ldflags "-s -w" -o "$dir/reelsplice" ./cmd/reelsplice
fi
