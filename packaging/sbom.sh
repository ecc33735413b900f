#!/usr/bin/env bash
# Lists what the program for one target is made of, as CycloneDX: crates with their versions, licences and checksums.
#   packaging/sbom.sh TARGET OUTPUT_DIRECTORY        (needs cargo-cyclonedx)
set -euo pipefail

target=$1 output=$(realpath -m "$2")
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=storefront-$version-$target.cdx
mkdir -p "$output"
# It writes a list for each crate of the workspace, beside its manifest; that of the program has the others in it.
trap 'rm -f "$name.json" crates/*/"$name.json"' EXIT
cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$target" --no-build-deps --override-filename "$name"
cp "$name.json" "$output/"
