#!/usr/bin/env bash
# Packs what was built for all targets: archives, lists of their parts (SBOM), and for Linux Debian packages and image trees.
#   DEB_MAINTAINER='NAME <ADDRESS>' packaging/pack.sh BINARIES OUTPUT_DIRECTORY IMAGE_DIRECTORY
# It needs cargo-deb, cargo-cyclonedx and the certificate authorities of this system (ca-certificates).
# BINARIES has one directory per target, `binary-TARGET`, with the program in it. The manual pages come from the program for
# x86-64 Linux, which this machine must be able to run.
set -euo pipefail

binaries=$(realpath "$1") output=$(realpath -m "$2") image=$(realpath -m "$3")
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
manual=$work/man notices=$work/THIRD-PARTY.txt
mkdir "$manual"
# An upload forgets that a file is a program.
chmod +x "$binaries"/binary-*/*
"$binaries/binary-x86_64-unknown-linux-musl/storefront" man "$manual"
packaging/notices.py >"$notices"

for directory in "$binaries"/binary-*; do
    target=${directory##*/binary-}
    program=("$directory"/storefront*)
    packaging/archive.py "$target" "${program[0]}" "$manual" "$notices" "$output"
    packaging/sbom.sh "$target" "$output"
    case $target in
        *-linux-*)
            mkdir -p "target/$target/release"
            cp "${program[0]}" "target/$target/release/storefront"
            packaging/deb.sh "$target" "$manual" "$notices" "$output"
            packaging/image.py "$target" "${program[0]}" /etc/ssl/certs/ca-certificates.crt "$notices" "$image" ;;
    esac
done
cp packaging/Containerfile "$image/"
