#!/usr/bin/env python3
"""Packs a built program with its manual pages, completions, documents and notices: .zip for Windows, .tar.gz for all others.

    packaging/archive.py TARGET BINARY MANUAL_DIRECTORY NOTICES OUTPUT_DIRECTORY

The same files give the same bytes: names are sorted, and owners and times are fixed (SOURCE_DATE_EPOCH, or 1980).
"""

import gzip
import io
import os
import pathlib
import sys
import tarfile
import time
import zipfile

import project

# What a reader gets, with everything that it links to.
DOCUMENTS = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/*.md",
    "tests/snapshots/support-form*.svg",
    "tests/snapshots/review*.png",
    "completions/storefront.*",
]
# The earliest time that a .zip file can hold.
EPOCH = 315532800


def members(target, binary, manual, notices, root=project.ROOT):
    """Returns the files of the archive as {name in the archive: (path, mode)}, sorted by name."""
    program = "storefront.exe" if "-windows-" in target else "storefront"
    files = {program: (binary, 0o755), "THIRD-PARTY.txt": (notices, 0o644)}
    for pattern in DOCUMENTS:
        found = list(root.glob(pattern))
        if not found:
            raise ValueError(f"no file matches `{pattern}`")
        files |= {path.relative_to(root).as_posix(): (path, 0o644) for path in found}
    pages = list(manual.glob("*.1"))
    if not any(page.name == "storefront.1" for page in pages):
        raise ValueError(f"`{manual}` has no manual page storefront.1")
    files |= {f"man/{page.name}": (page, 0o644) for page in pages}
    return dict(sorted(files.items()))


def pack(target, binary, manual, notices, output, root=project.ROOT):
    """Writes the archive to the directory `output` and returns its path."""
    name = f"storefront-{project.package(root)['version']}-{target}"
    files = members(target, binary, manual, notices, root)
    epoch = max(int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH)), EPOCH)
    output.mkdir(parents=True, exist_ok=True)
    write, suffix = (write_zip, "zip") if "-windows-" in target else (write_tar, "tar.gz")
    archive = output / f"{name}.{suffix}"
    write(archive, name, files, epoch)
    return archive


def write_tar(archive, top, files, epoch):
    """Writes a gzipped tar file with all files below the directory `top`."""
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, (path, mode) in files.items():
            content = path.read_bytes()
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode, entry.mtime = len(content), mode, epoch
            tar.addfile(entry, io.BytesIO(content))


def write_zip(archive, top, files, epoch):
    """Writes a zip file with all files below the directory `top`."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, (path, mode) in files.items():
            entry = zipfile.ZipInfo(f"{top}/{name}", time.gmtime(epoch)[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
            packed.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    try:
        print(pack(sys.argv[1], *map(pathlib.Path, sys.argv[2:])))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
