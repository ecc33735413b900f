#!/usr/bin/env python3
"""Writes the licences of everything that the released programs contain: crates, the standard library and musl.

    packaging/notices.py > THIRD-PARTY.txt

The texts are those that the crates bring; crates with one text share it.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

import project

LICENCE = re.compile(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense)([-_.].*)?")
# What is compiled in but is no crate: the standard library, and the C library of the programs for Linux.
OTHERS = [
    ("Rust standard library", "MIT OR Apache-2.0", "Copyright (c) The Rust Project Contributors"),
    ("musl, on Linux", "MIT", "Copyright © 2005-2020 Rich Felker, et al."),
]


def targets(root=project.ROOT):
    """Returns the targets that are released, as `deny.toml` names them."""
    return tomllib.loads((root / "deny.toml").read_text(encoding="utf-8"))["graph"]["targets"]


def packages(target, root=project.ROOT):
    """Returns the crates of others that the program for a target contains: neither macros nor what only tests need."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found = {package["id"]: package for package in metadata["packages"]}
    reached, left = set(), [metadata["resolve"]["root"]]
    while left:
        one = left.pop()
        if one in reached or any("proc-macro" in part["kind"] for part in found[one]["targets"]):
            continue
        reached.add(one)
        left += [
            need["pkg"] for need in nodes[one]["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"])
        ]
    return [found[one] for one in reached if found[one]["source"]]


def standard_text(expression, root=project.ROOT):
    """Returns the text of a licence that this project has too, without a copyright line."""
    if re.search(r"\bMIT\b", expression):
        text = (root / "LICENSE-MIT").read_text(encoding="utf-8")
        return text[text.index("Permission is hereby granted") :]
    if "Apache-2.0" in expression:
        return (root / "LICENSE-APACHE").read_text(encoding="utf-8")
    raise ValueError(f"no text for the licence `{expression}`")


def texts(package, root=project.ROOT):
    """Returns the licence texts of a crate, also those of C sources in it; where it has none, that of the licence it names."""
    directory = pathlib.Path(package["manifest_path"]).parent
    files = [path for path in directory.rglob("*") if path.is_file() and LICENCE.fullmatch(path.name)]
    if package["license_file"]:
        files.append(directory / package["license_file"])
    found = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(set(files)) if path.suffix != ".rs"]
    if not found:
        found = [f"Copyright (c) {', '.join(package['authors']) or 'its authors'}\n\n" + standard_text(package["license"], root)]
    return found


def notices(crates, root=project.ROOT):
    """Returns the notices: what is contained, and then each text once with the names it is for."""
    named, contained = {}, []

    def add(name, text):
        entry = named.setdefault(" ".join(text.split()), (text.strip("\n"), []))
        if name not in entry[1]:
            entry[1].append(name)

    for name, expression, copyright_line in OTHERS:
        contained.append(f"{name}: {expression}")
        add(name, f"{copyright_line}\n\n" + standard_text(expression, root))
    for crate in sorted(crates.values(), key=lambda crate: (crate["name"], crate["version"])):
        name = f"{crate['name']} {crate['version']}"
        contained.append(f"{name}: {crate['license']}")
        for text in texts(crate, root):
            add(name, text)
    rule = "-" * 80
    head = "storefront contains these works of others, under these licences:"
    parts = [f"{rule}\n{', '.join(names)}\n{rule}\n\n{text}\n" for text, names in named.values()]
    return "\n".join([head, "", *contained, "", *parts])


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    try:
        every = {package["id"]: package for target in targets() for package in packages(target)}
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        sys.stdout.write(notices(every))
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
