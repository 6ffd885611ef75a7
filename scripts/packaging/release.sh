#!/usr/bin/env bash
# Makes archives, deb, rpm, SBOMs (CycloneDX) and checksums of the current commit in dist: a version if the commit has a
# tag, or else a snapshot. Builds are reproducible. Needs Go and git: the packager and the SBOM generator are built from
# pinned sources. Windows and macOS programs are not signed.
#
#   scripts/packaging/release.sh [--targets linux_amd64,...]
set -euo pipefail
cd "$(dirname "$0")/../.."

NFPM=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2 # the newest whose modules resolve
CYCLONEDX=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
all=linux_amd64,linux_arm64,darwin_arm64,windows_amd64
targets=$all
while [ $# -gt 0 ]; do
  case $1 in
    --targets) targets=${2:?want targets after --targets} && shift 2 ;;
    *) echo "usage: $0 [--targets $all]" >&2 && exit 2 ;;
  esac
done
for target in ${targets//,/ }; do
  case ",$all," in *",$target,"*) ;; *) echo "target $target: want some of $all" >&2 && exit 2 ;; esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$PWD dist=$work/dist
mkdir "$dist"
git clone --quiet --local . "$work/reelsplice" # without uncommitted and ignored files
cd "$work/reelsplice"

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
MODULE_PATH=$(go list -m)
if VERSION=$(git describe --exact-match --tags HEAD 2>/dev/null); then
  VERSION=${VERSION#v}
else
  VERSION=$(sed -n 's/^const nextVersion = "\(.*\)"$/\1/p' cmd/reelsplice/version.go).$(git rev-parse --short HEAD)
fi
export SOURCE_DATE_EPOCH MODULE_PATH VERSION

step() { printf -- '-- %s (%ss)\n' "$1" "$SECONDS"; }
step tools
GOBIN=$work/tools GOFLAGS=-mod=mod go install "$NFPM"
GOBIN=$work/tools GOFLAGS=-mod=mod go install "$CYCLONEDX"
step "manual pages and completions"
scripts/packaging/generated.sh .reelsplice/generated

# archive FOLDER NAME FORMAT: writes a reproducible archive with git.
archive() {
  local when="@$SOURCE_DATE_EPOCH +0000"
  git -C "$1" init --quiet
  git -C "$1" -c core.looseCompression=0 add --all --force
  GIT_AUTHOR_DATE=$when GIT_COMMITTER_DATE=$when git -C "$1" -c user.name=reelsplice -c user.email= -c commit.gpgSign=false commit --quiet --message archive
  git -C "$1" -c tar.umask=0022 -c "tar.tar.gz.command=gzip -9n" archive --format="$3" --prefix="$2/" --output="$dist/$2.$3" HEAD
}

for target in ${targets//,/ }; do
  step "$target"
  os=${target%_*} ARCH=${target#*_} name=reelsplice_${VERSION}_$target
  program=reelsplice format=tar.gz
  if [ "$os" = windows ]; then program=reelsplice.exe format=zip; fi
  tree=$work/$target
  mkdir -p "$tree"/{etc,systemd,ingest/layout,schemas/catalog,schemas/release}
  CGO_ENABLED=0 GOOS=$os GOARCH=$ARCH go build -trimpath -buildvcs=true -ldflags "-s -w" -o "$tree/$program" ./cmd/reelsplice
  "$work/tools/cyclonedx-gomod" bin -json -std -noserial -notimestamp -version "$VERSION" -output "$dist/$name.cdx.json" "$tree/$program"
  if [ "$os" = linux ]; then
    cp "$tree/$program" .reelsplice/reelsplice
    for packager in deb rpm; do
      ARCH=$ARCH "$work/tools/nfpm" package --config scripts/packaging/nfpm.yaml --packager "$packager" --target "$dist/$name.$packager"
    done
  fi
  cp LICENSE ./*.md "$tree/"
  cp -r docs .reelsplice/generated/{man,completions} "$tree/"
  cp -r ingest/layout/docs "$tree/ingest/layout/"
  cp schemas/catalog/SCHEMA.md "$tree/schemas/catalog/"
  cp schemas/release/FORMAT.md "$tree/schemas/release/"
  cp scripts/packaging/reelsplice.toml "$tree/etc/"
  cp scripts/packaging/systemd/* "$tree/systemd/"
  archive "$tree" "$name" "$format"
done
(cd "$dist" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)

rm -rf "$root/dist"
cp -rp "$dist" "$root/dist"
ls -l "$root/dist"
