#!/usr/bin/env bash
# Tests the image as its user, with its own command: first start with the sample, health, a nightly job in its volume.
# Needs root and buildah. The image runs in a chroot.
#
#   scripts/packaging/test-image.sh TAG
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packaging/lib.sh

image=${1:?want the tag of an image}
api=127.0.0.1:$(port) admin=127.0.0.1:$(port)
work=$(mktemp -d)
container=$(buildah from --pull-never "$image")
edge=
finish() {
  if [ -n "$edge" ]; then kill "$edge" 2>/dev/null && wait "$edge" || true; fi
  buildah umount "$container" >/dev/null
  buildah rm "$container" >/dev/null
  rm -rf "$work"
}
trap finish EXIT
folder=$(buildah mount "$container")

setting() { buildah inspect --type image --format "$1" "$image"; }
settings() { setting "{{range $1}}{{println .}}{{end}}" | grep .; }
user=$(setting '{{.OCIv1.Config.User}}')
mapfile -t environment < <(settings .OCIv1.Config.Env)
mapfile -t entry < <(settings .OCIv1.Config.Entrypoint)
mapfile -t command < <(settings .OCIv1.Config.Cmd)
mapfile -t health < <(settings .Docker.Config.Healthcheck.Test)
[ "$user" = 65532:65532 ]
[ "${health[*]}" = "CMD ${entry[*]} health" ]

# The command of a container, with other ports.
inside=(env -i "${environment[@]}" REELSPLICE_ADDR="$api" REELSPLICE_ADMIN_ADDR="$admin"
  "$(command -v chroot)" --userspec="$user" "$folder" "${entry[@]}")

"${inside[@]}" "${command[@]}" --json --quiet --shutdown-delay 0s >"$work/up" &
edge=$!
for _ in $(seq 600); do
  if [ -s "$work/up" ]; then break; fi
  sleep 0.1
done
token=$(sed -n 's/.*"token":"\([^"]*\)".*/\1/p' "$work/up")
answers "http://$api" "$token" "$admin" "${inside[@]}"
[ "$(stat -c '%u' "$folder/data/releases")" = 65532 ]
[ -s "$folder/etc/ssl/certs/ca-certificates.crt" ]
[ ! -e "$folder/bin" ] # the image has nothing else
# The process may write only to its folder.
found=$(find "$folder" -path "$folder/data" -prune -o -path "$folder/tmp" -prune -o ! -type l '(' ! -uid 0 -o -perm /022 ')' -print)
[ -z "$found" ] || { echo "the image's user may write to $found" >&2 && exit 1; }
[ "$(stat -c '%u %a' "$folder/data" "$folder/tmp" | tr '\n' ' ')" = "65532 755 0 1777 " ]

# The nightly job of compose.yaml. The sample's edge follows it.
install -o 65532 -m 0644 -D --target-directory "$folder/tmp/dumps" data/sample/movies.ndjson
"${inside[@]}" ingest --quiet --catalog=/data/catalog --max-bad=1% /tmp/dumps >/dev/null
"${inside[@]}" build --quiet --catalog=/data/catalog --releases=/data/releases --publish >/dev/null
"${inside[@]}" prune --releases=/data/releases --keep=3
new=$(head -n 1 "$folder/data/releases/current")
for _ in $(seq 50); do
  if "${inside[@]}" health 2>/dev/null | grep -q "$new"; then break; fi
  sleep 0.1
done
"${inside[@]}" health | grep -q "$new"
answers "http://$api" "$token" "$admin" "${inside[@]}"
echo "image: started, healthy, a nightly job; $(buildah images --format '{{.Size}}' "$image")"
