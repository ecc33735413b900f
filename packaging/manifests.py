#!/usr/bin/env python3
"""Makes the Homebrew formula, the Scoop manifest and the WinGet manifests of a release from its checksums.

    packaging/manifests.py SHA256SUMS OUTPUT_DIRECTORY
"""

import json
import pathlib
import re
import sys

import project

UNIX_ARCHIVES = {
    ("macos", "arm"): "aarch64-apple-darwin",
    ("macos", "intel"): "x86_64-apple-darwin",
    ("linux", "arm"): "aarch64-unknown-linux-musl",
    ("linux", "intel"): "x86_64-unknown-linux-musl",
}
WINDOWS_ARCHIVES = {"64bit": "x86_64-pc-windows-msvc", "arm64": "aarch64-pc-windows-msvc"}


def read_checksums(text):
    """Returns {file name: SHA-256} of the output of `sha256sum`."""
    sums = {}
    for line in text.splitlines():
        found = re.fullmatch(r"([0-9a-f]{64}) [ *]([^/]+)", line)
        if found is None:
            raise ValueError(f"not a line of `sha256sum`: `{line}`")
        sums[found[2]] = found[1]
    return sums


class Release:
    """The addresses and checksums of one release's archives."""

    def __init__(self, sums, package):
        project.repository_of(package["repository"])
        self.sums, self.package = sums, package
        self.version = package["version"]
        self.homepage = package["repository"]

    def archive(self, target, suffix):
        """Returns the address and the checksum of an archive; raises `ValueError` where it has none."""
        name = f"storefront-{self.version}-{target}.{suffix}"
        if name not in self.sums:
            raise ValueError(f"the checksums lack `{name}`")
        return f"{self.homepage}/releases/download/v{self.version}/{name}", self.sums[name]


def formula(release):
    """Returns the text of the Homebrew formula."""
    systems = []
    for system in ("macos", "linux"):
        blocks = []
        for processor in ("arm", "intel"):
            url, checksum = release.archive(UNIX_ARCHIVES[system, processor], "tar.gz")
            blocks.append(
                f'    on_{processor} do\n      url "{url}"\n      sha256 "{checksum}"\n    end\n'
            )
        systems.append(f"  on_{system} do\n" + "\n".join(blocks) + "  end\n")
    licences = ", ".join(f'"{name}"' for name in release.package["license"].split(" OR "))
    description = release.package["description"].replace("\\", "\\\\").replace('"', '\\"')
    return f"""class Storefront < Formula
  desc "{description}"
  homepage "{release.homepage}"
  version "{release.version}"
  license any_of: [{licences}]

{chr(10).join(systems)}
  def install
    bin.install "storefront"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/storefront.bash" => "storefront"
    zsh_completion.install "completions/storefront.zsh" => "_storefront"
    fish_completion.install "completions/storefront.fish"
    pkgshare.install "completions/storefront.elvish", "completions/storefront.ps1"
    doc.install "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "tests"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/storefront --version")
  end
end
"""


def scoop(release):
    """Returns the text of the Scoop manifest."""
    architectures, updates = {}, {}
    for name, target in WINDOWS_ARCHIVES.items():
        url, checksum = release.archive(target, "zip")
        directory = f"storefront-{release.version}-{target}"
        architectures[name] = {"url": url, "hash": checksum, "extract_dir": directory}
        updates[name] = {
            key: value.replace(release.version, "$version")
            for key, value in architectures[name].items()
            if key != "hash"
        }
    manifest = {
        "version": release.version,
        "description": release.package["description"],
        "homepage": release.homepage,
        "license": release.package["license"].replace(" OR ", "|"),
        "architecture": architectures,
        "bin": "storefront.exe",
        "checkver": {"github": release.homepage},
        "autoupdate": {"architecture": updates, "hash": {"url": "$baseurl/SHA256SUMS"}},
    }
    return json.dumps(manifest, indent=4, ensure_ascii=False) + "\n"


def winget(release):
    """Returns the WinGet manifests as {file name: text}: the version, its installers and its description."""
    identifier = f"{release.homepage.split('/')[-2]}.storefront"
    head = {"PackageIdentifier": identifier, "PackageVersion": release.version}
    installers = []
    for name, target in {"x64": WINDOWS_ARCHIVES["64bit"], "arm64": WINDOWS_ARCHIVES["arm64"]}.items():
        url, checksum = release.archive(target, "zip")
        program = {
            "RelativeFilePath": f"storefront-{release.version}-{target}\\storefront.exe",
            "PortableCommandAlias": "storefront",
        }
        installer = {"Architecture": name, "InstallerUrl": url, "InstallerSha256": checksum.upper()}
        installers.append(installer | {"NestedInstallerFiles": [program]})
    documents = {
        "": {"DefaultLocale": "en-US"},
        ".installer": {"InstallerType": "zip", "NestedInstallerType": "portable", "Installers": installers},
        ".locale.en-US": {
            "PackageLocale": "en-US",
            "Publisher": release.homepage.split("/")[-2],
            "PackageName": "storefront",
            "PackageUrl": release.homepage,
            "License": release.package["license"],
            "ShortDescription": release.package["description"],
        },
    }
    kinds = {"": "version", ".installer": "installer", ".locale.en-US": "defaultLocale"}
    return {
        # JSON is YAML, too.
        f"{identifier}{suffix}.yaml": json.dumps(
            head | content | {"ManifestType": kinds[suffix], "ManifestVersion": "1.10.0"},
            indent=2,
            ensure_ascii=False,
        )
        + "\n"
        for suffix, content in documents.items()
    }


def write(checksums, output, root=project.ROOT):
    """Writes `storefront.rb`, `storefront.json` and the manifests for WinGet to the directory `output`."""
    release = Release(read_checksums(checksums.read_text()), project.package(root))
    # Beside each archive, what its program is made of.
    for target in [*UNIX_ARCHIVES.values(), *WINDOWS_ARCHIVES.values()]:
        if f"storefront-{release.version}-{target}.cdx.json" not in release.sums:
            raise ValueError(f"the checksums lack the list of crates for `{target}`")
    texts = {"storefront.rb": formula(release), "storefront.json": scoop(release)} | winget(release)
    output.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (output / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        write(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
