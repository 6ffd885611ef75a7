#!/usr/bin/env bash
# Makes the image from a program for Linux that is there already, such as one of dist, with buildah and without
# a base image. The result is the one of the Dockerfile, and its settings are read from there.
#
#   scripts/packaging/image.sh PROGRAM TAG
set -euo pipefail
cd "$(dirname "$0")/../.."

program=${1:?want the program} tag=${2:?want the tag of the image}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/packaging/rootfs.sh "$work/rootfs" "$program"
# The last stage of the Dockerfile, with the content from here.
sed -n '/^FROM scratch/,$p' Dockerfile | sed -E 's#^COPY --from=compile (.*)/rootfs/#COPY \1rootfs/#' >"$work/Dockerfile"
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
buildah bud --quiet --format docker --timestamp "$epoch" --isolation chroot --tag "$tag" --file "$work/Dockerfile" "$work"
