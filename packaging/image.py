#!/usr/bin/env python3
"""Packs the file tree of the container image for one target as a tar file; `Containerfile` has the rest.

    packaging/image.py TARGET BINARY CERTIFICATES NOTICES OUTPUT_DIRECTORY

The tree has the program, the certificate authorities, the licences, and `/data` and `/tmp` to write to. A tar file says who owns
what, whoever unpacks it. The same files give the same bytes.
"""

import io
import os
import pathlib
import sys
import tarfile

import project

# As the container tools name the processors.
PROCESSORS = {"x86_64-unknown-linux-musl": "amd64", "aarch64-unknown-linux-musl": "arm64"}
# A user of no system: nobody's files are theirs, and Kubernetes sees by the number that it is not root.
USER = 65532
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


def tree(binary, certificates, notices, root=project.ROOT):
    """Returns the entries as {name: (content or None for a directory, mode, owner)}, parents first."""
    user = f"storefront:x:{USER}:{USER}::/data:/storefront\n".encode()
    files = {
        "storefront": (binary.read_bytes(), 0o755, 0),
        CERTIFICATES: (certificates.read_bytes(), 0o644, 0),
        "etc/passwd": (b"root:x:0:0::/:/storefront\n" + user, 0o644, 0),
        "etc/group": (f"root:x:0:\nstorefront:x:{USER}:\n".encode(), 0o644, 0),
        "licenses/THIRD-PARTY.txt": (notices.read_bytes(), 0o644, 0),
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"]:
        files[f"licenses/{name}"] = ((root / name).read_bytes(), 0o644, 0)
    if b"-----BEGIN CERTIFICATE-----" not in files[CERTIFICATES][0]:
        raise ValueError(f"`{certificates}` has no certificate")
    entries = {"data": (None, 0o700, USER), "tmp": (None, 0o1777, 0)}
    for name in files:
        for parent in reversed(pathlib.PurePosixPath(name).parents[:-1]):
            entries[str(parent)] = (None, 0o755, 0)
    return dict(sorted((entries | files).items()))


def pack(target, binary, certificates, notices, output, root=project.ROOT):
    """Writes `rootfs-PROCESSOR.tar` to the directory `output` and returns its path."""
    if target not in PROCESSORS:
        raise ValueError(f"there is no image for `{target}`")
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"rootfs-{PROCESSORS[target]}.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (content, mode, owner) in tree(binary, certificates, notices, root).items():
            entry = tarfile.TarInfo(name)
            entry.mode, entry.uid, entry.gid = mode, owner, owner
            entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
            if content is None:
                entry.type = tarfile.DIRTYPE
                tar.addfile(entry)
            else:
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return path


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    try:
        print(pack(sys.argv[1], *map(pathlib.Path, sys.argv[2:])))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
