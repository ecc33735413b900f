#!/usr/bin/env bash
# Makes the Debian package of a program built with `cargo build --release --target TARGET`.
#   DEB_MAINTAINER='NAME <ADDRESS>' packaging/deb.sh TARGET MANUAL_DIRECTORY NOTICES OUTPUT_DIRECTORY        (needs cargo-deb)
set -euo pipefail

target=$1 manual=$(realpath "$2") notices=$(realpath "$3") output=$(realpath -m "$4")
cd "$(dirname "$0")/.."
maintainer=${DEB_MAINTAINER:?set it to \`NAME <ADDRESS>\`}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

# What Cargo.toml names as assets, apart from the program.
made=target/packaging
rm -rf "$made"
mkdir -p "$made/man" "$output"
cp "$manual"/*.1 "$made/man/"
cp "$notices" "$made/THIRD-PARTY.txt"
{
    echo "storefront ($version-1) unstable; urgency=medium"
    echo
    echo "  * Release $version; see CHANGELOG.md for the changes."
    echo
    echo " -- $maintainer  $(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")"
} >"$made/changelog"

cargo deb --no-build --no-strip --target "$target" --maintainer "$maintainer" --output "$output/"
