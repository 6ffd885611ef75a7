#!/bin/sh
# Removing the package keeps its data. dpkg's purge removes the data and the user.
set -e

if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
if [ "$1" = purge ]; then
  rm -rf /var/lib/reelsplice /var/cache/reelsplice /etc/reelsplice
  if getent passwd reelsplice >/dev/null && command -v userdel >/dev/null; then userdel reelsplice || true; fi
fi
