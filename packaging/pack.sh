#!/usr/bin/env bash
# Packs what was built for all targets: archives, and Debian packages for Linux.
#   DEB_MAINTAINER='NAME <ADDRESS>' packaging/pack.sh BINARIES OUTPUT_DIRECTORY        (needs cargo-deb)
# BINARIES has one directory per target, `binary-TARGET`, with the program in it. The manual pages come from the program for
# x86-64 Linux, which this machine must be able to run.
set -euo pipefail

binaries=$(realpath "$1") output=$(realpath -m "$2")
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

manual=$(mktemp -d)
trap 'rm -rf "$manual"' EXIT
# An upload forgets that a file is a program.
chmod +x "$binaries"/binary-*/*
"$binaries/binary-x86_64-unknown-linux-musl/storefront" man "$manual"

for directory in "$binaries"/binary-*; do
    target=${directory##*/binary-}
    program=("$directory"/storefront*)
    packaging/archive.py "$target" "${program[0]}" "$manual" "$output"
    case $target in
        *-linux-*)
            mkdir -p "target/$target/release"
            cp "${program[0]}" "target/$target/release/storefront"
            packaging/deb.sh "$target" "$manual" "$output" ;;
    esac
done
