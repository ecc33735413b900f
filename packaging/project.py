"""What the release scripts know of the project: `Cargo.toml` and `CHANGELOG.md`."""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def package(root=ROOT):
    """Returns the `[package]` table of `Cargo.toml`, with what it takes from `[workspace.package]`."""
    manifest = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    shared = manifest.get("workspace", {}).get("package", {})
    own = manifest["package"]
    return {name: shared[name] if value == {"workspace": True} else value for name, value in own.items()}


def address(root=ROOT):
    """Returns the address of the project."""
    value = package(root)["repository"]
    repository_of(value)
    return value


def repository_of(address):
    """Returns `OWNER/REPOSITORY` of an address on GitHub; raises `ValueError` for any other."""
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", address)
    if found is None:
        raise ValueError(f"expected an address like https://github.com/acme/shop, found `{address}`")
    return found[1]


def repository(root=ROOT):
    """Returns the name of the repository, `OWNER/REPOSITORY`."""
    return repository_of(address(root))


def image(root=ROOT):
    """Returns the name of the container image; a registry takes lower case only."""
    return f"ghcr.io/{repository(root).lower()}"


def release_notes(version, root=ROOT):
    """Returns the section of the changelog for `version`; raises `ValueError` where there is none."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.compile(rf"^## \[{re.escape(version)}\].*$", re.MULTILINE)
    found = heading.search(changelog)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no section `## [{version}]`")
    following = re.compile(r"^(## |\[[^\]]+\]: )", re.MULTILINE).search(changelog, found.end())
    return changelog[found.end() : following.start() if following else None].strip() + "\n"
