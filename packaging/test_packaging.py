#!/usr/bin/env python3
"""Tests of the release scripts: `python3 packaging/test_packaging.py`."""

import hashlib
import json
import pathlib
import posixpath
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import address
import archive
import check_tag
import manifests
import notices
import project
import wine

PACKAGE = {
    "version": "1.2.3",
    "description": 'Says "hello"',
    "license": "Apache-2.0 OR MIT",
    "repository": "https://github.com/acme/storefront",
}
NAMES = [
    f"storefront-1.2.3-{target}.{'zip' if 'windows' in target else 'tar.gz'}"
    for target in [*manifests.UNIX_ARCHIVES.values(), *manifests.WINDOWS_ARCHIVES.values()]
]
SUMS = {name: hashlib.sha256(name.encode()).hexdigest() for name in NAMES}


def release(sums=SUMS, package=PACKAGE):
    return manifests.Release(sums, package)


def url(name):
    return f"https://github.com/acme/storefront/releases/download/v1.2.3/{name}"


class Temporary(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)

    def file(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Manifests(Temporary):
    def test_the_formula_has_each_address_directly_before_its_checksum(self):
        lines = [line.strip() for line in manifests.formula(release()).splitlines()]
        for name in (name for name in NAMES if name.endswith(".tar.gz")):
            at = lines.index(f'url "{url(name)}"')
            self.assertEqual(lines[at + 1], f'sha256 "{SUMS[name]}"')
        self.assertIn('desc "Says \\"hello\\""', lines)
        self.assertIn('license any_of: ["Apache-2.0", "MIT"]', lines)

    def test_the_processors_of_the_formula_are_not_exchanged(self):
        system = None
        for line in manifests.formula(release()).splitlines():
            if line.startswith("  on_"):
                system = {"on_macos": "apple-darwin", "on_linux": "linux-musl"}[line.split()[0]]
            elif line.startswith("    on_"):
                processor = {"on_arm": "aarch64", "on_intel": "x86_64"}[line.split()[0]]
            elif line.strip().startswith("url"):
                self.assertIn(processor, line)
                self.assertIn(system, line)

    def test_the_scoop_manifest_has_the_address_and_the_checksum_of_each_processor(self):
        manifest = json.loads(manifests.scoop(release()))
        for processor, target in {"64bit": "x86_64", "arm64": "aarch64"}.items():
            name = f"storefront-1.2.3-{target}-pc-windows-msvc.zip"
            entry = manifest["architecture"][processor]
            self.assertEqual((entry["url"], entry["hash"]), (url(name), SUMS[name]))
            self.assertEqual(entry["extract_dir"], name.removesuffix(".zip"))
            update = manifest["autoupdate"]["architecture"][processor]
            self.assertEqual(update["url"].replace("$version", "1.2.3"), entry["url"])
            self.assertNotIn("1.2.3", json.dumps(update))
        self.assertEqual(manifest["license"], "Apache-2.0|MIT")

    def test_the_winget_manifests_have_each_program_with_its_checksum(self):
        texts = manifests.winget(release())
        names = {f"acme.storefront{suffix}.yaml" for suffix in ["", ".installer", ".locale.en-US"]}
        self.assertEqual(set(texts), names)
        for processor, target in {"x64": "x86_64", "arm64": "aarch64"}.items():
            name = f"storefront-1.2.3-{target}-pc-windows-msvc.zip"
            installers = json.loads(texts["acme.storefront.installer.yaml"])["Installers"]
            [installer] = [entry for entry in installers if entry["Architecture"] == processor]
            self.assertEqual((installer["InstallerUrl"], installer["InstallerSha256"]), (url(name), SUMS[name].upper()))
            [program] = installer["NestedInstallerFiles"]
            self.assertEqual(program["RelativeFilePath"], name.removesuffix(".zip") + "\\storefront.exe")

    def test_a_missing_archive_a_bad_line_and_a_bad_repository_are_errors(self):
        for name in NAMES:
            lacking = release({other: SUMS[other] for other in NAMES if other != name})
            make = manifests.scoop if name.endswith(".zip") else manifests.formula
            with self.assertRaisesRegex(ValueError, name):
                make(lacking)
        for line in ["", "abc  file", f"{'0' * 64}  ../file", f"{'0' * 63}  file"]:
            with self.assertRaises(ValueError):
                manifests.read_checksums(f"{line}\n")
        with self.assertRaises(ValueError):
            release(package=PACKAGE | {"repository": 'https://github.com/acme/storefront"; system "id'})

    def test_the_files_are_written_from_the_checksums_of_real_files(self):
        version = project.package()["version"]
        names = [name.replace("1.2.3", version) for name in NAMES]
        lists = [re.sub(r"\.(zip|tar\.gz)$", ".cdx.json", name) for name in names]
        lines = [f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in names + lists]
        checksums = self.file("SHA256SUMS", "".join(lines[:-1]))
        with self.assertRaisesRegex(ValueError, "the list of crates for `aarch64-pc-windows-msvc`"):
            manifests.write(checksums, self.root / "out")
        checksums = self.file("SHA256SUMS", "".join(lines))
        manifests.write(checksums, self.root / "out")
        self.assertEqual(json.loads((self.root / "out/storefront.json").read_text())["version"], version)
        self.assertIn(f'version "{version}"', (self.root / "out/storefront.rb").read_text())


class Wine(Temporary):
    def setUp(self):
        super().setUp()
        entries = '    ("one::fails", Always, "a reason"),\n    (\n        "two::is_slow",\n        Sometimes,\n        "another",\n    ),'
        self.file(wine.LIST, f"const FAIL_UNDER_WINE: [(&str, Fails, &str); 2] = [\n{entries}\n];\n")

    def compare(self, **results):
        """Of a run with these results, `ok` where nothing is said."""
        results = {"one::fails": "FAILED", "two::is_slow": "ok", "three::holds": "ok"} | {
            name.replace("__", "::"): result for name, result in results.items()
        }
        lines = [f"test {name} ... {result}\n" for name, result in results.items() if result]
        count = lambda result: sum(result in line for line in lines)
        end = f"test result: FAILED. {count('ok')} passed; {count('FAILED')} failed; {count('ignored')} ignored; 0 measured\n"
        return wine.compare("".join(lines) + "\n" + end, self.root)

    def test_what_fails_is_compared_with_the_list(self):
        self.assertEqual(self.compare(), [])
        self.assertEqual(self.compare(two__is_slow="FAILED", three__holds="ignored"), [])
        self.assertEqual(self.compare(three__holds="FAILED"), ["three::holds fails and is not in the list"])
        self.assertEqual(self.compare(one__fails="ok"), ["one::fails is in the list and passes"])
        self.assertEqual(self.compare(two__is_slow=None), ["two::is_slow is in the list and was not run"])

    def test_a_run_that_broke_off_and_a_missing_list_are_errors(self):
        for output in ["", "test one::fails ... FAILED\n", "test one::fails ... FAILED\ntest result: FAILED. 7 passed; 1 failed; 0 ignored;\n"]:
            with self.assertRaisesRegex(ValueError, "did not run to its end"):
                wine.compare(output, self.root)
        self.file(wine.LIST, "")
        with self.assertRaisesRegex(ValueError, "no list"):
            self.compare()

    def test_the_list_of_the_suite_is_read(self):
        declared = re.search(r"FAIL_UNDER_WINE.*?; (\d+)\]", (project.ROOT / wine.LIST).read_text(encoding="utf-8"))
        self.assertEqual(len(wine.expected()), int(declared[1]))


class Address(Temporary):
    def setUp(self):
        super().setUp()
        for name in ["Cargo.toml", *address.FILES]:
            self.file(name, (project.ROOT / name).read_text(encoding="utf-8"))

    def texts(self):
        return {name: (self.root / name).read_text(encoding="utf-8") for name in ["Cargo.toml", *address.FILES]}

    def test_all_files_have_the_address_of_cargo_toml(self):
        self.assertEqual(address.check(), project.package()["repository"])

    def test_no_other_file_has_it(self):
        name = project.repository()
        places = ["*.toml", "*.md", "docs/*", "src/**/*.rs", "crates/*/src/**/*.rs", "packaging/*", "packaging/debian/*", ".github/workflows/*"]
        files = {path for place in places for path in project.ROOT.glob(place) if path.is_file()}
        named = {path.relative_to(project.ROOT).as_posix() for path in files if f"github.com/{name}" in path.read_text(encoding="utf-8")}
        self.assertEqual(named, {"Cargo.toml", *address.FILES} - {"docs/scripts.md"})

    def test_one_command_writes_it_everywhere_and_back(self):
        before = self.texts()
        address.write("https://github.com/Acme-1/my.shop", self.root)
        self.assertEqual(address.check(self.root), "https://github.com/Acme-1/my.shop")
        after = self.texts()
        for name, text in after.items():
            self.assertNotEqual(text, before[name])
            self.assertNotIn(project.repository().lower(), text.lower())
        self.assertIn("image: ghcr.io/acme-1/my.shop:", after["docs/scripts.md"])
        self.assertIn("https://github.com/01mf02/jaq", after["docs/scripts.md"])
        self.assertIn("curl -LsSf https://github.com/Acme-1/my.shop/releases/latest/download/install.sh | sh", after["README.md"])
        address.write(project.address(), self.root)
        self.assertEqual(self.texts(), before)

    def test_another_address_in_a_file_and_a_bad_one_are_errors(self):
        name = project.repository()
        for file in address.FILES:
            text = (self.root / file).read_text(encoding="utf-8")
            self.file(file, re.sub(f"{name}|{name.lower()}", "acme/other", text, count=1))
            with self.assertRaisesRegex(ValueError, f"{file} names `.*acme/other`"):
                address.check(self.root)
            self.file(file, re.sub(f"{name}|{name.lower()}", "", text))
            with self.assertRaisesRegex(ValueError, f"{file} does not name the address"):
                address.check(self.root)
            self.file(file, text)
        for bad in ["acme/shop", "http://github.com/acme/shop", "https://github.com/acme/shop/", 'https://github.com/a/b"', ""]:
            with self.assertRaisesRegex(ValueError, "an address like"):
                address.write(bad, self.root)

    def test_the_readme_and_the_page_about_installation_have_the_same_four_lines(self):
        lines = [
            re.search(r"```sh\n(curl -LsSf .*?)```", (project.ROOT / name).read_text(encoding="utf-8"), re.DOTALL)[1]
            for name in ["README.md", "docs/install.md"]
        ]
        self.assertEqual(lines[0], lines[1])
        self.assertEqual(len(lines[0].splitlines()), 4)
        page = (project.ROOT / "docs/install.md").read_text(encoding="utf-8")
        self.assertLess(page.index("curl -LsSf"), page.index("\n- ["))


class Archive(Temporary):
    def setUp(self):
        super().setUp()
        self.binary = self.file("built/storefront", "program")
        self.notices = self.file("notices", "notices")
        self.file("man/storefront.1", ".TH storefront 1")
        self.file("man/storefront-quote.1", ".TH storefront-quote 1")

    def pack(self, target, output="out"):
        return archive.pack(target, self.binary, self.root / "man", self.notices, self.root / output)

    def test_a_tar_file_has_the_program_the_manual_the_completions_and_the_documents(self):
        path = self.pack("x86_64-unknown-linux-musl")
        top = path.name.removesuffix(".tar.gz")
        with tarfile.open(path) as tar:
            modes = {entry.name.removeprefix(f"{top}/"): entry.mode for entry in tar}
        self.assertEqual(modes["storefront"], 0o755)
        for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt", "docs/install.md", "man/storefront.1"]:
            self.assertEqual(modes[name], 0o644)
        shells = {name for name in modes if name.startswith("completions/")}
        self.assertEqual(shells, {f"completions/storefront.{end}" for end in ["bash", "elvish", "fish", "ps1", "zsh"]})

    def test_a_zip_file_for_windows_has_the_program_with_its_extension(self):
        path = self.pack("aarch64-pc-windows-msvc")
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
        self.assertEqual(path.suffix, ".zip")
        self.assertIn(f"{path.stem}/storefront.exe", names)
        self.assertIn(f"{path.stem}/completions/storefront.ps1", names)

    def test_the_same_files_give_the_same_bytes(self):
        for target in ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"]:
            first = self.pack(target).read_bytes()
            self.binary.touch()
            self.assertEqual(first, self.pack(target, "again").read_bytes())
            if target == "aarch64-apple-darwin":
                self.assertEqual(int.from_bytes(first[4:8], "little"), archive.EPOCH)

    def test_cargo_binstall_finds_each_archive_and_the_program_in_it(self):
        package = project.package()
        binstall = package["metadata"]["binstall"]
        for target in [*manifests.UNIX_ARCHIVES.values(), *manifests.WINDOWS_ARCHIVES.values()]:
            form = binstall["overrides"].get(target, {}).get("pkg-fmt", "tgz")
            values = {"repo": "", "name": "storefront", "version": package["version"], "target": target, "bin": "storefront"}
            values |= {"archive-suffix": {"tgz": ".tar.gz", "zip": ".zip"}[form]}
            values |= {"binary-ext": ".exe" if "-windows-" in target else ""}
            fill = lambda text: re.sub(r"\{ ([a-z-]+) \}", lambda found: values[found[1]], text)
            path = self.pack(target)
            self.assertEqual(fill(binstall["pkg-url"]).rsplit("/", 1)[1], path.name)
            with zipfile.ZipFile(path) if form == "zip" else tarfile.open(path) as packed:
                names = packed.namelist() if form == "zip" else packed.getnames()
            self.assertIn(fill(binstall["bin-dir"]), names)

    def test_an_archive_without_manual_pages_is_an_error(self):
        (self.root / "man/storefront.1").unlink()
        with self.assertRaisesRegex(ValueError, "manual page"):
            self.pack("aarch64-apple-darwin")


class Notices(Temporary):
    def crate(self, name, licence, files, authors=()):
        """A crate with these files."""
        for file, text in files.items():
            self.file(f"{name}/{file}", text)
        path = self.file(f"{name}/Cargo.toml", "")
        return {"name": name, "version": "1.0.0", "license": licence, "license_file": None, "authors": authors, "manifest_path": str(path)}

    def text(self, *crates):
        return notices.notices({crate["name"]: crate for crate in crates})

    def test_each_text_stands_once_with_all_it_is_for(self):
        one = self.crate("one", "MIT", {"LICENSE": "the licence\nof one", "c_src/lib/COPYING": "of a C source", "src/licence.rs": "code"})
        two = self.crate("two", "ISC", {"license-mit.txt": "the  licence of\none\n", "NOTICE": "a notice"})
        text = self.text(two, one)
        self.assertEqual(text.count("of one"), 1)
        self.assertIn("one 1.0.0, two 1.0.0\n", text)
        self.assertIn("of a C source", text)
        self.assertIn("a notice", text)
        self.assertNotIn("code", text)
        self.assertLess(text.index("one 1.0.0: MIT"), text.index("two 1.0.0: ISC"))
        for name in ["Rust standard library: MIT OR Apache-2.0", "Rich Felker"]:
            self.assertIn(name, text)

    def test_a_crate_without_a_text_gets_that_of_the_licence_it_names(self):
        text = self.text(self.crate("bare", "MIT", {}, ["Ann <ann@shop.example>"]))
        self.assertIn("Copyright (c) Ann <ann@shop.example>\n\nPermission is hereby granted", text)
        with self.assertRaisesRegex(ValueError, "no text for the licence `Zlib`"):
            self.text(self.crate("other", "Zlib", {}))

    def test_what_the_released_programs_contain_is_named(self):
        crates = {crate["name"] for target in notices.targets()[:1] for crate in notices.packages(target)}
        self.assertLessEqual({"reqwest", "rusqlite", "ring"}, crates)
        self.assertFalse(crates & {"proptest", "serde_derive", "storefront-core", "trycmd"})


def archived():
    """Yields the documents of an archive."""
    for pattern in archive.DOCUMENTS:
        yield from (path.relative_to(project.ROOT).as_posix() for path in project.ROOT.glob(pattern))


def in_debian_package():
    """Yields the documents of the Debian package, as they stand in the repository."""
    for source, target, _ in project.package()["metadata"]["deb"]["assets"]:
        if target.startswith("usr/share/doc/storefront/"):
            yield from (path.relative_to(project.ROOT).as_posix() for path in project.ROOT.glob(source))


class Package(unittest.TestCase):
    """What `cargo install` and crates.io get."""

    def setUp(self):
        command = ["cargo", "package", "--list", "--allow-dirty", "--quiet"]
        listing = subprocess.run(command, cwd=project.ROOT, check=True, capture_output=True, text=True)
        # Cargo writes the paths as the system does.
        self.files = {name.replace("\\", "/") for name in listing.stdout.splitlines()}

    def test_whatever_the_readme_shows_or_links_to_is_in_the_archives_and_the_debian_package(self):
        text = (project.ROOT / "README.md").read_text(encoding="utf-8")
        links = set(re.findall(r'(?:\]\(|src="|srcset=")([^)#"\s]+)', text))
        links = {link for link in links if "://" not in link}
        self.assertIn("docs/install.md", links)
        for files in [list(archived()), list(in_debian_package())]:
            for link in links:
                self.assertIn(link, files)

    def test_whatever_a_document_links_to_is_in_the_package(self):
        documents = [name for name in self.files if re.fullmatch(r"README\.md|CHANGELOG\.md|CONTRIBUTING\.md|docs/.*\.md", name)]
        self.assertIn("docs/install.md", documents)
        for document in documents:
            text = (project.ROOT / document).read_text(encoding="utf-8")
            for link in re.findall(r'(?:\]\(|src="|srcset=")([^)#"\s]+)', text):
                if "://" not in link:
                    path = posixpath.normpath(posixpath.join(posixpath.dirname(document), link))
                    self.assertIn(path, self.files, f"{document} links to {link}")

    def test_the_package_is_small_and_has_no_file_of_the_development_alone(self):
        sources = [project.ROOT / name for name in self.files if (project.ROOT / name).exists()]
        self.assertLess(sum(path.stat().st_size for path in sources), 6_000_000)
        for name in self.files:
            self.assertFalse(name.startswith((".github/", ".ci/", "packaging/", "target/")), name)


MANIFEST = """[package]
name = "storefront"
version = "1.2.3"
repository = "https://github.com/acme/shop"
"""


class Tag(Temporary):
    def setUp(self):
        super().setUp()
        self.file("Cargo.toml", MANIFEST)
        self.lock("1.2.3")
        for name in address.FILES:
            self.file(name, "https://github.com/acme/shop/releases")
        self.file("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-21\n\n- New.\n\n## [1.2.2]\n\n- Old.\n")

    def lock(self, version):
        self.file("Cargo.lock", f'[[package]]\nname = "storefront"\nversion = "{version}"\n')

    def test_the_notes_are_the_section_of_the_version(self):
        self.assertEqual(check_tag.check("v1.2.3", self.root), "- New.\n")
        self.assertEqual(check_tag.check("v1.2.3", self.root, "acme/shop"), "- New.\n")

    def test_another_tag_another_lock_file_and_a_missing_section_are_errors(self):
        for tag in ["1.2.3", "v1.2.4", "v1.2.3-rc.1", ""]:
            with self.assertRaisesRegex(ValueError, "the tag is"):
                check_tag.check(tag, self.root)
        self.file("CHANGELOG.md", "## [1.2.3]\n## [1.2.4-rc.1]\n")
        self.file("Cargo.toml", MANIFEST.replace("1.2.3", "1.2.4-rc.1"))
        self.lock("1.2.4-rc.1")
        with self.assertRaisesRegex(ValueError, "a version like"):
            check_tag.check("v1.2.4-rc.1", self.root)
        self.file("Cargo.toml", MANIFEST)
        self.lock("1.2.2")
        with self.assertRaisesRegex(ValueError, "Cargo.lock"):
            check_tag.check("v1.2.3", self.root)
        self.lock("1.2.3")
        for other in ["acme/other", "acme/shop2", "shop"]:
            with self.assertRaisesRegex(ValueError, f"this is `{other}`"):
                check_tag.check("v1.2.3", self.root, other)
        self.file("README.md", "https://github.com/acme/other/releases")
        with self.assertRaisesRegex(ValueError, "README.md names"):
            check_tag.check("v1.2.3", self.root, "acme/shop")
        self.file("CHANGELOG.md", "## [1.2.30]\n## [Unreleased]\n")
        with self.assertRaisesRegex(ValueError, "CHANGELOG.md"):
            check_tag.check("v1.2.3", self.root)


if __name__ == "__main__":
    unittest.main()
