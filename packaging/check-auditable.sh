#!/usr/bin/env bash
# Checks that a program for Linux names the crates it was built from, as `cargo auditable` has it: `cargo audit bin` reads them.
#   packaging/check-auditable.sh BINARY        (needs objcopy and python3)
set -euo pipefail

list=$(mktemp)
trap 'rm -f "$list"' EXIT
objcopy --dump-section ".dep-v0=$list" "$1" /dev/null || { echo "it does not name its crates" >&2; exit 1; }
python3 - "$list" <<'PYTHON'
import json, sys, zlib
names = {package["name"] for package in json.loads(zlib.decompress(open(sys.argv[1], "rb").read()))["packages"]}
missing = {"storefront", "storefront-core", "reqwest", "rustls"} - names
sys.exit(f"it does not name {missing}" if missing else None)
PYTHON
