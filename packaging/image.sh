#!/usr/bin/env bash
# Builds the container image of both processors from what image.py has packed, as one OCI archive. It needs no daemon.
#   packaging/image.sh IMAGE_DIRECTORY ARCHIVE        (needs buildah)
# `skopeo copy --all oci-archive:ARCHIVE docker://NAME:TAG` publishes it.
set -euo pipefail

directory=$(realpath "$1") archive=$(realpath -m "$2")
cd "$(dirname "$0")"
address=$(./address.py)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' ../Cargo.toml | head -n 1)
image=localhost/storefront:$version
platforms=()
for tree in "$directory"/rootfs-*.tar; do
    processor=${tree##*/rootfs-}
    platforms+=("linux/${processor%.tar}")
done
remove() { buildah manifest rm "$image" >/dev/null 2>&1 || true; }
remove
trap remove EXIT
buildah build --isolation chroot --manifest "$image" --timestamp "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" \
    --platform "$(IFS=,; echo "${platforms[*]}")" --label "org.opencontainers.image.source=$address" \
    --label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.licenses=Apache-2.0 OR MIT" "$directory"
mkdir -p "$(dirname "$archive")"
rm -f "$archive"
buildah manifest push --quiet --all "$image" "oci-archive:$archive:$version"
