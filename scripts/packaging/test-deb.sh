#!/usr/bin/env bash
# Installs a deb in a fresh minimal Debian, and takes the steps of a user: a token, a release from dumps, the edge,
# then removal and purge. Needs root, mmdebstrap and a Debian mirror.
#
#   scripts/packaging/test-deb.sh PACKAGE.deb
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packaging/lib.sh

deb=$(realpath "${1:?want a deb}")
work=$(mktemp -d)
root=$work/root
edge=
finish() {
  if [ -n "$edge" ]; then kill "$edge" 2>/dev/null && wait "$edge" || true; fi
  rm -rf "$work"
}
trap finish EXIT

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mmdebstrap --quiet --variant=minbase "$suite" "$root"
cp "$deb" "$root/reelsplice.deb"
mkdir -p "$root/dumps"
cp data/sample/*.ndjson "$root/dumps/"
in_root() { chroot "$root" "$@"; }
as_user() { chroot --userspec=reelsplice:reelsplice "$root" "$@"; }

in_root dpkg -i /reelsplice.deb | tee "$work/install"
grep -q 'sudo systemctl enable --now reelsplice' "$work/install" # the next command
in_root dpkg --verify reelsplice
in_root reelsplice version
[ "$(in_root stat -c '%U %a' /var/lib/reelsplice)" = "reelsplice 750" ]
in_root dpkg-query -W -f '${Conffiles}\n' reelsplice | grep -q /etc/reelsplice/reelsplice.toml
[ -s "$root/usr/share/doc/reelsplice/docs/how-to/applications/kodi.md" ]
[ ! -e "$root/etc/systemd/system/multi-user.target.wants/reelsplice.service" ] # nothing starts by itself
in_root bash -c '. /usr/share/bash-completion/completions/reelsplice && complete -p reelsplice' >/dev/null

# The commands of the units, as their user. Root makes the token file.
in_root cp -r dumps/. /var/lib/reelsplice/dumps/
in_root chown -R reelsplice: /var/lib/reelsplice/dumps
token=$(in_root reelsplice token issue --name me)
as_user reelsplice token issue --name another >/dev/null
sed -n 's/^ExecStart=//p' "$root/usr/lib/systemd/system/reelsplice-nightly.service" >"$work/nightly"
[ "$(wc -l <"$work/nightly")" = 3 ]
while read -r line; do
  # shellcheck disable=SC2086 # words, as systemd splits them
  as_user $line </dev/null
done <"$work/nightly"
api=127.0.0.1:$(port) admin=127.0.0.1:$(port)
chroot --userspec=reelsplice:reelsplice "$root" env REELSPLICE_ADDR="$api" REELSPLICE_ADMIN_ADDR="$admin" \
  reelsplice serve --quiet --shutdown-delay 0s &
edge=$!
answers "http://$api" "$token" "$admin" in_root reelsplice
kill "$edge" && wait "$edge"
edge=

# An upgrade keeps settings, a removal keeps data, and a purge removes everything.
echo '# mine' >>"$root/etc/reelsplice/reelsplice.toml"
in_root dpkg -i /reelsplice.deb >"$work/upgrade"
if grep sudo "$work/upgrade"; then exit 1; fi
grep -q '# mine' "$root/etc/reelsplice/reelsplice.toml"

# An upgrade restarts a running edge, with the same scripts in deb and rpm. If the new program cannot read the
# release, the earlier program runs until there is another release. The stubs replace systemd, which does not run here.
mkdir -p "$root/run/systemd/system"
printf '#!/bin/sh\necho "$*" >>/systemctl-calls\n' >"$root/usr/bin/systemctl"
cat >"$root/usr/bin/systemd-run" <<'SH'
#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
cd /var/lib/reelsplice && exec runuser -u reelsplice -- "$@"
SH
chmod 755 "$root/usr/bin/systemctl" "$root/usr/bin/systemd-run"
in_root sh -c 'cp /var/lib/dpkg/info/reelsplice.postinst /postinst' # rpm has the same one
for upgrade in "dpkg -i /reelsplice.deb" "sh /postinst 2"; do
  rm -f "$root/systemctl-calls"
  # shellcheck disable=SC2086 # words
  in_root $upgrade >"$work/upgrade" 2>&1
  if grep 'sudo' "$work/upgrade"; then exit 1; fi
  grep -qx 'try-restart reelsplice.service' "$root/systemctl-calls"
done
manifest=$(echo "$root"/var/lib/reelsplice/releases/r*/manifest.json)
as_user sed -i 's/_version": [0-9][0-9]*/_version": 1/' "${manifest#"$root"}"
for upgrade in "dpkg -i /reelsplice.deb" "sh /postinst 2"; do
  rm -f "$root/systemctl-calls"
  # shellcheck disable=SC2086 # words
  in_root $upgrade >"$work/upgrade" 2>&1
  if grep try-restart "$root/systemctl-calls"; then exit 1; fi
  grep -q 'keeps running the earlier program' "$work/upgrade"
  grep -q 'it is of version 1, ' "$work/upgrade"
done
sed -n 's/^ *fix: //p' "$work/upgrade" >"$root/fix"
as_user sh -e /fix >/dev/null 2>&1
in_root dpkg -i /reelsplice.deb >"$work/upgrade"
grep -qx 'try-restart reelsplice.service' "$root/systemctl-calls"
in_root dpkg -r reelsplice >/dev/null
[ -s "$root/var/lib/reelsplice/releases/current" ] && [ -s "$root/etc/reelsplice/reelsplice.toml" ]
in_root dpkg -P reelsplice >/dev/null
[ ! -e "$root/var/lib/reelsplice" ] && [ ! -e "$root/etc/reelsplice" ] && [ ! -e "$root/usr/bin/reelsplice" ]
if in_root getent passwd reelsplice; then echo "the user still exists after a purge" >&2 && exit 1; fi
echo "deb: installed, built, served, upgraded, removed, purged"
