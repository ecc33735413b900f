#!/usr/bin/env bash
# Checks that a Linux program needs nothing of the system it runs on: no loader, no shared library, no other file.
#   packaging/check-static.sh BINARY        (the last check needs root, or sudo without a password)
set -euo pipefail

binary=$1
fail() { echo "not static: $*" >&2; exit 1; }

headers=$(readelf --wide --program-headers --dynamic "$binary")
! grep -q INTERP <<<"$headers" || fail "it names a loader"
! grep -q '(NEEDED)' <<<"$headers" || fail "it needs shared libraries: $(grep '(NEEDED)' <<<"$headers")"

as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo -n)
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
cp "$binary" "$empty/storefront"
"${as_root[@]}" chroot "$empty" /storefront --version || fail "it does not start in an empty directory"
"${as_root[@]}" chroot "$empty" /storefront help exit-codes >/dev/null
