#!/usr/bin/env python3
"""Checks a release tag against `Cargo.toml`, `Cargo.lock` and `CHANGELOG.md`, and prints the release notes.

    packaging/check_tag.py v0.1.0 [OWNER/REPOSITORY] > notes.md

With the name of the repository that it runs in, it also compares the address of the project.
"""

import re
import sys
import tomllib

import address
import project


def check(tag, root=project.ROOT, repository=None):
    """Returns the release notes; raises `ValueError` where the tag or the address is not that of this commit."""
    package = project.package(root)
    if tag != f"v{package['version']}":
        raise ValueError(f"the tag is `{tag}`, but Cargo.toml has version `{package['version']}`")
    # The file name of a Debian package has `~` before `rc.1`, which a release cannot hold.
    if not re.fullmatch(r"\d+\.\d+\.\d+", package["version"]):
        raise ValueError(f"expected a version like 1.2.3, found `{package['version']}`")
    locked = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    versions = [entry["version"] for entry in locked if entry["name"] == package["name"]]
    if versions != [package["version"]]:
        raise ValueError(f"Cargo.lock has version {versions}, but Cargo.toml has `{package['version']}`")
    if repository is not None:
        named = project.repository_of(address.check(root))
        if named != repository:
            hint = f"run `packaging/address.py https://github.com/{repository}`"
            raise ValueError(f"this is `{repository}`, but Cargo.toml has `{named}`; {hint}")
    return project.release_notes(package["version"], root)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        sys.stdout.write(check(sys.argv[1], repository=(sys.argv + [None])[2]))
    except ValueError as error:
        sys.exit(f"error: {error}")
