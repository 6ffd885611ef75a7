#!/usr/bin/env bash
# Builds the unchanged Dockerfile on a base image of Debian and this machine's Go instead of the golang image, and
# tests the result. Needs root, buildah, mmdebstrap and a Debian mirror; modules come from this machine's cache.
#
#   scripts/packaging/test-dockerfile.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
base=localhost/reelsplice-go:test
container=
finish() {
  if [ -n "$container" ]; then buildah rm "$container" >/dev/null; fi
  rm -rf "$work"
}
trap finish EXIT

if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,git "$suite" "$work/base.tar"
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$work/base.tar" / >/dev/null
  buildah add --quiet "$container" "$(go env GOROOT)" /usr/local/go >/dev/null
  buildah config --env PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --env GOPATH=/go "$container"
  buildah commit --quiet "$container" "$base" >/dev/null
fi
git clone --quiet --local . "$work/source"
buildah bud --quiet --format docker --isolation chroot --network host --build-arg GO_IMAGE="$base" --build-arg GOPROXY=file:///modules \
  --volume "$(go env GOMODCACHE)/cache/download:/modules:ro" --tag localhost/reelsplice:compiled "$work/source" >/dev/null
scripts/packaging/test-image.sh localhost/reelsplice:compiled
