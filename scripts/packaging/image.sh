#!/usr/bin/env bash
# Makes the image from an existing Linux program, such as one of dist, with buildah and without a base image. The
# result equals the Dockerfile's, which has the settings.
#
#   scripts/packaging/image.sh PROGRAM TAG
set -euo pipefail
cd "$(dirname "$0")/../.."

program=${1:?want the program} tag=${2:?want the tag of the image}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/packaging/rootfs.sh "$work/rootfs" "$program"
# The last stage of the Dockerfile, with local content.
sed -n '/^FROM scratch/,$p' Dockerfile | sed -E 's#^COPY --from=compile (.*)/rootfs/#COPY \1rootfs/#' >"$work/Dockerfile"
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
buildah bud --quiet --format docker --timestamp "$epoch" --isolation chroot --tag "$tag" --file "$work/Dockerfile" "$work"
