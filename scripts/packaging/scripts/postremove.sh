#!/bin/sh
# Data stays when the package is removed. dpkg's purge removes it, and the user.
set -e

if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
if [ "$1" = purge ]; then
  rm -rf /var/lib/reelsplice /var/cache/reelsplice /etc/reelsplice
  if getent passwd reelsplice >/dev/null && command -v userdel >/dev/null; then userdel reelsplice || true; fi
fi
