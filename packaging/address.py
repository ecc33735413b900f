#!/usr/bin/env python3
"""The address of the project: `repository` in `Cargo.toml`. Other files that name it are checked, and written, from there.

    packaging/address.py                                    prints the address, if all files have it
    packaging/address.py https://github.com/acme/shop       writes that address to all files
    packaging/address.py --image                            prints the name of the container image
"""

import re
import sys

import project

# What names the address, because it is read where `Cargo.toml` is not.
FILES = ["README.md", "docs/install.md", "docs/scripts.md", "packaging/install.sh", "packaging/install.ps1"]
# Projects of others that these files name.
OTHERS = {"01mf02/jaq"}
NAMED = re.compile(r"(?P<before>https://github\.com/|ghcr\.io/|--repo )(?P<name>[\w.-]+/[\w-]+(?:\.[\w-]+)*)")


def check(root=project.ROOT):
    """Returns the address; raises `ValueError` where a file has another one or none."""
    name = project.repository(root)
    for file in FILES:
        text = (root / file).read_text(encoding="utf-8")
        found = [match for match in NAMED.finditer(text) if match["name"] not in OTHERS]
        for match in found:
            expected = project.image(root).removeprefix("ghcr.io/") if match["before"] == "ghcr.io/" else name
            if match["name"] != expected:
                raise ValueError(f"{file} names `{match[0]}`, but Cargo.toml has the repository `{name}`")
        if not found:
            raise ValueError(f"{file} does not name the address")
    return project.address(root)


def write(address, root=project.ROOT):
    """Writes the address to `Cargo.toml` and to all files that name it."""
    name = project.repository_of(address)
    manifest = root / "Cargo.toml"
    text, count = re.subn(
        r'^repository = ".*"$', f'repository = "{address}"', manifest.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    if count != 1:
        raise ValueError(f"Cargo.toml has {count} lines `repository = …`")
    manifest.write_text(text, encoding="utf-8", newline="\n")

    def replaced(match):
        if match["name"] in OTHERS:
            return match[0]
        return match["before"] + (name.lower() if match["before"] == "ghcr.io/" else name)

    for file in FILES:
        path = root / file
        path.write_text(NAMED.sub(replaced, path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) > 2 or "--help" in sys.argv:
        sys.exit(__doc__)
    try:
        if len(sys.argv) == 2 and sys.argv[1] != "--image":
            write(sys.argv[1])
        found = check()
        print(project.image() if "--image" in sys.argv else found)
    except ValueError as error:
        sys.exit(f"error: {error}")
