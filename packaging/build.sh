#!/usr/bin/env bash
# Builds the release of one target; a warning is an error, whichever compiler or linker gives it.
#   packaging/build.sh TARGET        (needs cargo-auditable, which has the program name its crates: `cargo audit bin PROGRAM`)
set -euo pipefail

cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export CARGO_TERM_COLOR=never
cargo auditable build --locked --release --target "$1" 2>&1 | tee "$log"
! grep -E '^warning' "$log" >/dev/null || { echo "the build of $1 gives warnings" >&2; exit 1; }
