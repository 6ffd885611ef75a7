#!/usr/bin/env bash
# Makes the image from an existing Linux program, such as one in dist, with buildah and without a base image. The
# result equals the Dockerfile's, which has the settings. With PLATFORM, such as linux/arm64, the image is added to the
# multi-platform image TAG.
#
#   scripts/packaging/image.sh PROGRAM TAG [PLATFORM]
set -euo pipefail
cd "$(dirname "$0")/../.."

program=${1:?want the program} tag=${2:?want the tag of the image} platform=${3:-}
names=(--tag "$tag")
[ -z "$platform" ] || names=(--platform "$platform" --manifest "$tag")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/packaging/rootfs.sh "$work/rootfs" "$program"
# The last stage of the Dockerfile, with local content.
sed -n '/^FROM scratch/,$p' Dockerfile | sed -E 's#^COPY --from=compile (.*)/rootfs/#COPY \1rootfs/#' >"$work/Dockerfile"
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
buildah bud --quiet --format docker --timestamp "$epoch" --isolation chroot "${names[@]}" --file "$work/Dockerfile" "$work"
