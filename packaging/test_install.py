#!/usr/bin/env python3
"""Tests of the install scripts against a server on this machine that answers as the releases of GitHub do."""

import hashlib
import http.server
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import zipfile

SCRIPTS = pathlib.Path(__file__).resolve().parent
TARGETS = {
    ("Linux", "x86_64"): "x86_64-unknown-linux-musl",
    ("Linux", "aarch64"): "aarch64-unknown-linux-musl",
    ("Darwin", "arm64"): "aarch64-apple-darwin",
    ("Darwin", "x86_64"): "x86_64-apple-darwin",
}
PROCESSORS = {"AMD64": "x86_64-pc-windows-msvc", "ARM64": "aarch64-pc-windows-msvc"}


def program(target):
    return f"#!/bin/sh\necho storefront 1.2.3, {target}\n".encode()


def archive(target):
    """Returns the name and the bytes of the archive for a system."""
    top, packed = f"storefront-1.2.3-{target}", io.BytesIO()
    if "windows" in target:
        with zipfile.ZipFile(packed, "w") as file:
            file.writestr(f"{top}/storefront.exe", program(target))
        return f"{top}.zip", packed.getvalue()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        entry = tarfile.TarInfo(f"{top}/storefront")
        entry.size, entry.mode = len(program(target)), 0o755
        file.addfile(entry, io.BytesIO(program(target)))
    return f"{top}.tar.gz", packed.getvalue()


class Releases(http.server.BaseHTTPRequestHandler):
    """Serves `files` of release 1.2.3, and leads from the latest release to it."""

    def do_GET(self):
        latest, release = "/releases/latest/download/", "/releases/download/v1.2.3/"
        content = self.server.files.get(self.path.removeprefix(release)) if self.path.startswith(release) else None
        self.server.asked.append(self.path)
        self.send_response(302 if self.path.startswith(latest) else 404 if content is None else 200)
        if self.path.startswith(latest):
            self.send_header("Location", self.path.replace(latest, release))
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


class Installation(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.bin = self.root / "installed here/bin"
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Releases)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        archives = dict(archive(target) for target in [*TARGETS.values(), *PROCESSORS.values()])
        lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in archives.items()]
        self.server.files = archives | {"SHA256SUMS": "".join(lines).encode()}
        self.server.asked = []
        (self.root / "tmp").mkdir()

    def environment(self, **more):
        address = f"http://127.0.0.1:{self.server.server_port}/releases"
        ours = {"STOREFRONT_RELEASES": address, "STOREFRONT_INSTALL_DIR": str(self.bin), "TMPDIR": str(self.root / "tmp")}
        others = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        return others | ours | {"HOME": str(self.root)} | more

    def refused(self, ran, message):
        """What was there before is there still, and nothing else."""
        self.assertNotEqual(ran.returncode, 0, ran)
        self.assertIn(message, ran.stdout + ran.stderr)
        left = [path.relative_to(self.root).as_posix() for path in sorted(self.root.rglob("*")) if path.is_file()]
        self.assertEqual([path for path in left if not path.startswith(("fake/", "cache/"))], self.before)

    def before_it(self, name):
        """An older program is installed."""
        self.bin.mkdir(parents=True)
        (self.bin / name).write_text("old")
        self.before = [(self.bin / name).relative_to(self.root).as_posix()]


@unittest.skipIf(os.name == "nt", "install.sh is for Linux and macOS")
class Shell(Installation):
    def setUp(self):
        super().setUp()
        self.system("Linux", "x86_64")
        self.before = []

    def system(self, name, machine):
        """Has `uname` tell this system."""
        fake = self.root / "fake"
        fake.mkdir(exist_ok=True)
        (fake / "uname").write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {name} || echo {machine}\n')
        (fake / "sysctl").write_text("#!/bin/sh\necho 0\n")
        for file in fake.iterdir():
            file.chmod(0o755)

    def run_it(self, script=None, shell=("sh",), path=None, **more):
        # Read from a pipe, as the README pipes it.
        text = (SCRIPTS / "install.sh").read_text(encoding="utf-8") if script is None else script
        path = f"{self.root / 'fake'}:{path or os.environ['PATH']}"
        environment = self.environment(PATH=path, **more)
        return subprocess.run([*shell], input=text, env=environment, capture_output=True, text=True, check=False)

    def installed(self, ran, target="x86_64-unknown-linux-musl"):
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran)
        self.assertIn(f"installed storefront 1.2.3: {self.bin}/storefront\n", ran.stdout)
        self.assertEqual((self.bin / "storefront").read_bytes(), program(target))
        self.assertEqual((self.bin / "storefront").stat().st_mode & 0o777, 0o755)
        self.assertEqual(os.listdir(self.bin), ["storefront"])
        self.assertEqual(os.listdir(self.root / "tmp"), [])

    def test_the_program_of_each_system_is_installed(self):
        for (name, machine), target in TARGETS.items():
            self.system(name, machine)
            self.installed(self.run_it(), target)
        self.system("FreeBSD", "amd64")
        self.before = ["installed here/bin/storefront"]
        self.refused(self.run_it(), "no program for FreeBSD on amd64")

    def test_a_mac_that_translates_the_shell_gets_the_program_of_its_processor(self):
        self.system("Darwin", "x86_64")
        (self.root / "fake/sysctl").write_text("#!/bin/sh\necho 1\n")
        self.installed(self.run_it(), "aarch64-apple-darwin")

    def test_a_program_that_is_there_is_replaced(self):
        self.before_it("storefront")
        self.installed(self.run_it())

    def test_a_directory_that_is_not_in_path_is_named(self):
        self.assertIn(f'export PATH="{self.bin}:$PATH"', self.run_it().stdout)
        self.assertNotIn("PATH", self.run_it(path=f"{self.bin}:{os.environ['PATH']}").stdout)

    def test_the_version_can_be_named(self):
        self.installed(self.run_it(STOREFRONT_VERSION="1.2.3"))
        self.assertFalse([path for path in self.server.asked if "latest" in path])
        self.before = ["installed here/bin/storefront"]
        self.refused(self.run_it(STOREFRONT_VERSION="9.9.9"), "cannot download")

    def test_a_changed_file_is_refused(self):
        self.before_it("storefront")
        name = "storefront-1.2.3-x86_64-unknown-linux-musl.tar.gz"
        good = self.server.files[name]
        for changed in [archive("aarch64-apple-darwin")[1], good[:-1], good + b"\0", b""]:
            self.server.files[name] = changed
            self.refused(self.run_it(), f"`{name}` is not the file of the release: expected SHA-256 {hashlib.sha256(good).hexdigest()}")

    def test_a_missing_file_is_refused(self):
        self.before_it("storefront")
        for name in ["storefront-1.2.3-x86_64-unknown-linux-musl.tar.gz", "SHA256SUMS"]:
            del self.server.files[name]
            self.refused(self.run_it(), "cannot download `http://127.0.0.1")

    def test_checksums_without_this_system_are_refused(self):
        self.before_it("storefront")
        sums = self.server.files["SHA256SUMS"].decode()
        line = next(line for line in sums.splitlines() if "x86_64-unknown-linux" in line)
        for text in [sums.replace(line, ""), sums.replace(line, line[1:]), "<html>", "", sums.replace("storefront-1", "storefront-../1")]:
            self.server.files["SHA256SUMS"] = text.encode()
            self.refused(self.run_it(), "SHA256SUMS does not name an archive for x86_64-unknown-linux-musl")

    def test_half_of_the_script_does_nothing(self):
        lines = (SCRIPTS / "install.sh").read_text(encoding="utf-8").splitlines(keepends=True)
        for end in range(len(lines)):
            ran = self.run_it(script="".join(lines[:end]).removesuffix("\n"))
            self.assertFalse(self.bin.exists() or self.server.asked, ran)

    def test_a_program_that_does_not_start_replaces_nothing(self):
        self.before_it("storefront")
        name = "storefront-1.2.3-x86_64-unknown-linux-musl.tar.gz"
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as file:
            entry = tarfile.TarInfo(name.removesuffix(".tar.gz") + "/storefront")
            entry.size = 7
            file.addfile(entry, io.BytesIO(b"exit 1\n"))
        sums = self.server.files["SHA256SUMS"].decode()
        old = hashlib.sha256(self.server.files[name]).hexdigest()
        self.server.files[name] = packed.getvalue()
        self.server.files["SHA256SUMS"] = sums.replace(old, hashlib.sha256(packed.getvalue()).hexdigest()).encode()
        self.refused(self.run_it(), "the program does not start")

    def with_only(self, *programs):
        """A PATH with these programs alone, of those that the script can use in place of others."""
        directory = pathlib.Path(tempfile.mkdtemp(dir=self.root / "fake"))
        for name in ["sh", "mktemp", "rm", "grep", "tar", "gzip", "mkdir", "cp", "chmod", "mv", "cut", *programs]:
            found = shutil.which(name)
            if found is None:
                self.skipTest(f"`{name}` is not installed")
            (directory / name).symlink_to(found)
        fake = f"{self.root / 'fake'}:{directory}"
        text = (SCRIPTS / "install.sh").read_text(encoding="utf-8")
        return subprocess.run(["sh"], input=text, env=self.environment(PATH=fake), capture_output=True, text=True, check=False)

    def test_wget_and_openssl_do_where_curl_and_sha256sum_are_not(self):
        self.installed(self.with_only("wget", "openssl"))

    def test_shasum_does_where_sha256sum_is_not(self):
        self.installed(self.with_only("curl", "shasum", "perl"))

    def test_without_a_program_that_downloads_or_verifies_nothing_is_installed(self):
        self.before_it("storefront")
        self.refused(self.with_only("sha256sum"), "curl or wget is needed")
        self.refused(self.with_only("curl"), "sha256sum, shasum or openssl is needed")

    def test_it_runs_in_other_shells(self):
        for shell in [("dash",), ("bash", "--posix"), ("busybox", "sh"), ("zsh", "--emulate", "sh"), ("ksh",)]:
            if shutil.which(shell[0]):
                with self.subTest(shell=shell):
                    self.installed(self.run_it(shell=shell))


POWERSHELLS = [name for name in ["pwsh", "powershell"] if shutil.which(name)]


@unittest.skipUnless(POWERSHELLS, "PowerShell is not installed")
class PowerShell(Installation):
    def run_it(self, processor="AMD64", **more):
        """Runs the script in each PowerShell of this machine, as the README does, and returns the last run."""
        script = f"Invoke-Expression (Get-Content -Raw -LiteralPath '{SCRIPTS / 'install.ps1'}')"
        # Without this, the message is broken into lines as wide as the console.
        command = f"try {{ {script} }} catch {{ [Console]::Error.WriteLine($_.Exception.Message); exit 1 }}"
        variables = {"PROCESSOR_ARCHITECTURE": processor, "PROCESSOR_ARCHITEW6432": "", "TEMP": str(self.root / "tmp")}
        # PowerShell keeps caches of its own.
        caches = {f"XDG_{kind}_HOME": str(self.root / "cache") for kind in ["CACHE", "DATA", "CONFIG"]}
        environment = self.environment(TMP=variables["TEMP"], **variables, **caches, **more)
        for name in POWERSHELLS:
            ran = subprocess.run(
                [name, "-NoProfile", "-NonInteractive", "-Command", command],
                env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            )
            self.codes.append(ran.returncode)
        return ran

    def setUp(self):
        super().setUp()
        self.codes, self.before = [], []

    def test_the_program_of_each_processor_is_installed(self):
        for processor, target in PROCESSORS.items():
            ran = self.run_it(processor)
            self.assertEqual(set(self.codes), {0}, ran)
            self.assertIn("installed storefront 1.2.3: ", ran.stdout)
            self.assertEqual((self.bin / "storefront.exe").read_bytes(), program(target))
        self.before = ["installed here/bin/storefront.exe"]
        self.refused(self.run_it("x86"), "no program for Windows on `x86`")

    def test_the_version_can_be_named(self):
        ran = self.run_it(STOREFRONT_VERSION="1.2.3")
        self.assertEqual(set(self.codes), {0}, ran)
        self.assertFalse([path for path in self.server.asked if "latest" in path])

    def test_a_changed_or_missing_file_is_refused(self):
        self.before_it("storefront.exe")
        name = "storefront-1.2.3-x86_64-pc-windows-msvc.zip"
        self.server.files[name] = archive("aarch64-pc-windows-msvc")[1]
        self.refused(self.run_it(), "is not the file of the release")
        for missing in [name, "SHA256SUMS"]:
            del self.server.files[missing]
            self.refused(self.run_it(), "cannot download")
        self.server.files["SHA256SUMS"] = b"<html>"
        self.refused(self.run_it(), "SHA256SUMS does not name an archive")
        self.assertNotIn(0, self.codes)


if __name__ == "__main__":
    unittest.main()
