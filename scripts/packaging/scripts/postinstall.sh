#!/bin/sh
# Creates the user and its folders. Does not start the edge, which needs a release and a token first. Restarts a running
# edge, unless the new program cannot serve its release.
set -e

# fault prints why the new program cannot serve the edge's release, and the fix. It fails if the program can.
fault() {
  systemd-run --quiet --pipe --wait --collect --property=User=reelsplice --property=WorkingDirectory=/var/lib/reelsplice \
    --property=EnvironmentFile=-/etc/reelsplice/environment /usr/bin/reelsplice doctor | grep -A 1 '^fail  *release '
}

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
  if systemctl is-active --quiet reelsplice.service && why=$(fault); then
    cat <<TEXT
The edge keeps running the earlier program, because this one cannot serve its release:

$why

Fix this as the user reelsplice, then run: sudo systemctl restart reelsplice
TEXT
  else
    systemctl try-restart reelsplice.service || true
  fi
fi

# On the first installation, dpkg passes no version, and rpm a count of one.
if [ "$1" = 1 ] || { [ "$1" = configure ] && [ -z "${2:-}" ]; }; then
  cat <<'TEXT'
reelsplice is installed, but not running yet. Issue a token and copy dumps, build a release, then start the edge:

  sudo -u reelsplice reelsplice token issue --name me
  sudo cp -r dumps/. /var/lib/reelsplice/dumps/ && sudo chown -R reelsplice: /var/lib/reelsplice/dumps
  sudo systemctl start reelsplice-nightly
  sudo systemctl enable --now reelsplice reelsplice-nightly.timer

/usr/share/doc/reelsplice/docs/how-to/install.md explains them.
TEXT
fi
