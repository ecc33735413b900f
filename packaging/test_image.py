#!/usr/bin/env python3
"""Tests of the container image: its file tree, and the program in it. No container engine is needed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import image
import project

TARGET = "x86_64-unknown-linux-musl"
AUTHORITIES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
CERTIFICATE = b"-----BEGIN CERTIFICATE-----\n"
# What is tested in the tree: STOREFRONT_BINARY (a release names its static program), or what `cargo test` has built.
BINARY = pathlib.Path(os.environ.get("STOREFRONT_BINARY", project.ROOT / "target/debug/storefront")).resolve()


class Tree(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.certificates, self.notices = self.root / "authorities", self.root / "notices"
        self.certificates.write_bytes(CERTIFICATE)
        self.notices.write_text("notices")
        self.binary = self.root / "program"
        self.binary.write_text("program")

    def pack(self, output="out"):
        return image.pack(TARGET, self.binary, self.certificates, self.notices, self.root / output)

    def test_each_entry_has_its_owner_and_its_mode(self):
        with tarfile.open(self.pack()) as tar:
            entries = {entry.name: (oct(entry.mode), entry.uid, entry.gid, entry.isdir()) for entry in tar}
        directory, file = ("0o755", 0, 0, True), ("0o644", 0, 0, False)
        self.assertEqual(entries, {
            "data": ("0o700", image.USER, image.USER, True), "tmp": ("0o1777", 0, 0, True),
            "etc": directory, "etc/ssl": directory, "etc/ssl/certs": directory, "licenses": directory,
            "storefront": ("0o755", 0, 0, False), "etc/passwd": file, "etc/group": file, image.CERTIFICATES: file,
            "licenses/LICENSE-APACHE": file, "licenses/LICENSE-MIT": file, "licenses/THIRD-PARTY.txt": file,
        })

    def test_the_same_files_give_the_same_bytes(self):
        first = self.pack().read_bytes()
        self.binary.touch()
        self.assertEqual(first, self.pack("again").read_bytes())

    def test_a_file_without_certificates_and_another_system_are_errors(self):
        self.certificates.write_text("")
        with self.assertRaisesRegex(ValueError, "no certificate"):
            self.pack()
        with self.assertRaisesRegex(ValueError, "no image for"):
            image.pack("x86_64-pc-windows-msvc", self.binary, self.certificates, self.notices, self.root)

    def test_the_containerfile_runs_the_program_as_the_user_of_the_tree(self):
        lines = (project.ROOT / "packaging/Containerfile").read_text(encoding="utf-8").splitlines()
        for line in ["FROM scratch", f"USER {image.USER}:{image.USER}", "WORKDIR /data", "ENV HOME=/data", 'ENTRYPOINT ["/storefront"]']:
            self.assertIn(line, lines)
        [tar] = [line.split()[1] for line in lines if line.startswith("ADD ")]
        self.assertEqual(tar.replace("${TARGETARCH}", "amd64"), self.pack().name)


def as_root():
    """Returns what is put before a command to run it as root; `None` where that cannot be."""
    if sys.platform != "linux":
        return None
    if os.geteuid() == 0:
        return []
    possible = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False) if shutil.which("sudo") else None
    return ["sudo", "-n"] if possible and possible.returncode == 0 else None


@unittest.skipIf(as_root() is None, "only root can enter a file tree")
@unittest.skipUnless(BINARY.exists(), f"{BINARY} is not built")
class Running(unittest.TestCase):
    """The program in the tree, as the user of the image, with nothing of this system around it."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(lambda: subprocess.run([*as_root(), "rm", "-rf", self.root], check=True))
        certificates, notices = self.root / "authorities", self.root / "notices"
        certificates.write_bytes(CERTIFICATE)
        notices.write_text("notices")
        tar = image.pack(TARGET, BINARY, certificates, notices, self.root)
        self.tree = self.root / "tree"
        self.tree.mkdir(mode=0o755)
        self.root.chmod(0o755)
        subprocess.run([*as_root(), "tar", "--extract", "--same-owner", "--same-permissions", "--file", tar, "--directory", self.tree], check=True)
        self.add_libraries()

    def add_libraries(self):
        """A program that is not built for a release needs libraries."""
        needed = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=False)
        for library in re.findall(r"(/\S+)", needed.stdout) if needed.returncode == 0 else []:
            target = self.tree / library.removeprefix("/")
            subprocess.run([*as_root(), "mkdir", "-p", target.parent], check=True)
            subprocess.run([*as_root(), "cp", "--dereference", library, target], check=True)

    def storefront(self, *arguments, user=image.USER, input=None, **environment):
        variables = [f"{name}={value}" for name, value in ({"HOME": "/data"} | environment).items()]
        enter = ["chroot", f"--userspec={user}:{user}", "--groups=", self.tree]
        # `env` is not in the tree: the variables are set before it is entered.
        command = [*as_root(), "env", "-i", f"PATH={os.environ['PATH']}", *variables, *enter, "/storefront", *arguments]
        return subprocess.run(command, input=input, capture_output=True, text=True, check=False)

    def put(self, name, text):
        """A file of the user in `/data`."""
        subprocess.run([*as_root(), "tee", self.tree / "data" / name], input=text, text=True, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*as_root(), "chown", f"{image.USER}:{image.USER}", self.tree / "data" / name], check=True)

    def test_a_batch_runs_and_leaves_its_files_in_data(self):
        self.put("items.csv", "quote_id,sku,qty\n1,umbrella,1\n1,mug-blue,2\n")
        ran = self.storefront("--sandbox", "quote", "add-item", "--input", "/data/items.csv", "-y")
        self.assertEqual(ran.returncode, 0, ran)
        self.assertIn("2 records: 2 done", ran.stdout + ran.stderr)
        listed = subprocess.run([*as_root(), "find", self.tree, "-user", str(image.USER), "-newer", self.tree / "data/items.csv"], capture_output=True, text=True, check=True)
        written = {pathlib.Path(path).relative_to(self.tree).parts[0] for path in listed.stdout.split()}
        self.assertEqual(written, {"data"})
        self.assertTrue(any(path.endswith("items.csv.journal") for path in listed.stdout.split()), listed)

    def test_an_update_of_a_customer_is_taken_back(self):
        for arguments in [["customer", "update", "--address", "2", "--postcode", "10119", "-y"], ["undo", "1", "-y"]]:
            ran = self.storefront("--sandbox", *arguments)
            self.assertEqual(ran.returncode, 0, ran)

    @unittest.skipUnless(AUTHORITIES.exists(), f"{AUTHORITIES} is not installed")
    def test_the_certificates_of_the_image_are_found(self):
        command = ["customer", "show", "--store-view", "default"]
        settings = {"STOREFRONT_BASE_URL": "https://127.0.0.1:9/rest", "STOREFRONT_TOKEN": "x"}
        subprocess.run([*as_root(), "cp", AUTHORITIES, self.tree / image.CERTIFICATES], check=True)
        self.assertIn("cannot connect", self.storefront(*command, **settings).stderr)
        subprocess.run([*as_root(), "rm", self.tree / image.CERTIFICATES], check=True)
        self.assertIn("No CA certificates", self.storefront(*command, **settings).stderr)

    def test_without_a_writable_home_a_batch_says_what_a_single_command_says(self):
        """As in a container with a user that owns nothing: no restart of it would help."""
        self.put("items.csv", "quote_id,sku,qty\n1,umbrella,1\n")
        self.put("moves.csv", "address_id,city\n2,Troy\n")
        subprocess.run([*as_root(), "chmod", "-R", "a=rX", self.tree / "data"], check=True)
        settings = {"STOREFRONT_BASE_URL": "http://127.0.0.1:9/rest", "STOREFRONT_TOKEN": "x"}
        single = ["customer", "update", "--address", "2", "--city", "Troy", "-y"]
        items = ["quote", "add-item", "--input", "/data/items.csv", "-y"]
        moves = ["customer", "update", "--input", "/data/moves.csv", "-y"]
        for arguments in [single, items, moves]:
            ran = self.storefront(*arguments, user=12345, **settings)
            self.assertEqual(ran.returncode, 1, ran)
            self.assertIn("XDG_STATE_HOME", ran.stderr, ran)


if __name__ == "__main__":
    unittest.main()
