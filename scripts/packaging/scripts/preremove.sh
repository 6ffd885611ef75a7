#!/bin/sh
# Stops the units before the package is removed. An upgrade restarts the edge at its end instead.
set -e

case "$1" in
  upgrade | failed-upgrade | 1) exit 0 ;; # dpkg's words; rpm's count of remaining versions
esac
if [ -d /run/systemd/system ]; then
  systemctl disable --now reelsplice.service reelsplice-nightly.timer || true
  systemctl stop reelsplice-nightly.service || true # if it is running
fi
