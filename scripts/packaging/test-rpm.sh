#!/usr/bin/env bash
# Unpacks an rpm into an empty root with rpm itself, checks its files, and runs the program there. Its scripts
# do not run: the root has no shell. test-deb.sh runs the same scripts.
#
#   scripts/packaging/test-rpm.sh PACKAGE.rpm
set -euo pipefail

rpm=$(realpath "${1:?want an rpm}")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
rpm --dbpath /var/lib/rpm --root "$root" --initdb
rpm --root "$root" --nodeps --noscripts --ignorearch -i "$rpm"
rpm --root "$root" --verify --nodeps --nouser --nogroup reelsplice
rpm -qp --configfiles "$rpm" | grep -qx /etc/reelsplice/reelsplice.toml
rpm -qp --scripts "$rpm" | grep -q useradd
for file in /usr/bin/reelsplice /usr/lib/systemd/system/reelsplice.service /usr/share/man/man1/reelsplice-serve.1.gz \
  /usr/share/bash-completion/completions/reelsplice /usr/share/zsh/site-functions/_reelsplice \
  /usr/share/doc/reelsplice/README.md /usr/share/doc/reelsplice/docs/how-to/applications/kodi.md; do
  [ -s "$root$file" ] || { echo "$rpm has no $file" >&2 && exit 1; }
done
chroot "$root" /usr/bin/reelsplice version
rpm --root "$root" --noscripts -e reelsplice
[ ! -e "$root/usr/bin/reelsplice" ]
echo "rpm: installed into a root, verified, run, removed"
