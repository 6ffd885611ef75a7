#!/bin/sh
# Stops the units when the package goes; an upgrade restarts the edge when it is done.
set -e

case "$1" in
  upgrade | failed-upgrade | 1) exit 0 ;; # words of dpkg; the count of versions that stay of rpm
esac
if [ -d /run/systemd/system ]; then
  systemctl disable --now reelsplice.service reelsplice-nightly.timer || true
  systemctl stop reelsplice-nightly.service || true # one that runs
fi
