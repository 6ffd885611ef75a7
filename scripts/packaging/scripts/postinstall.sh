#!/bin/sh
# Makes the user and its folder. Nothing is started: the edge needs a release and a token first. An edge that
# runs is restarted with the new program.
set -e

if ! getent passwd reelsplice >/dev/null; then
  if ! getent group reelsplice >/dev/null; then groupadd --system reelsplice; fi
  shell=/usr/sbin/nologin
  [ -x "$shell" ] || shell=/sbin/nologin
  useradd --system --gid reelsplice --home-dir /var/lib/reelsplice --no-create-home --shell "$shell" \
    --comment "reelsplice" reelsplice
fi
for folder in /var/lib/reelsplice /var/lib/reelsplice/dumps; do
  if [ ! -d "$folder" ]; then
    install -d -m 0750 -o reelsplice -g reelsplice "$folder"
  fi
done

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  systemctl try-restart reelsplice.service || true
fi
