"""What the measurements need around them: the built programs, the servers, the files."""

import json
import os
import shutil
import subprocess
import urllib.request
from pathlib import Path

from measure import output

ROOT = Path(__file__).resolve().parent.parent

ITEM = {
    "cartItem": {
        "sku": "MS-CHAMP-01",
        "qty": 1,
        "quote_id": "1",
        "product_option": {
            "extension_attributes": {
                "configurable_item_options": [
                    {"option_id": "93", "option_value": 52},
                    {"option_id": "142", "option_value": 168},
                ]
            }
        },
    }
}


def profile(addresses=3):
    """A stored profile as `GET` gives it."""
    return {
        "customer": {
            "id": 1,
            "email": "zoe@shop.example",
            "firstname": "Zoé",
            "lastname": "Λάμπρου",
            "store_id": 1,
            "website_id": 1,
            "addresses": [
                {
                    "id": number,
                    "customer_id": 1,
                    "region": {"region_code": None, "region": None, "region_id": 0},
                    "region_id": 0,
                    "country_id": "FR",
                    "street": [f"{number} rue de la Paix"],
                    "telephone": "+33 1 42 68 53 00",
                    "postcode": "75002",
                    "city": "Paris",
                    "firstname": "Zoé",
                    "lastname": "Λάμπρου",
                }
                for number in range(1, addresses + 1)
            ],
        }
    }


# What Cargo builds with; memory and requests are the same with `--debug`, times are not.
PROFILE = ["--release"]


def build(kind, name):
    """Builds a target with Cargo; returns its program. A bench brings the project's own program along."""
    lines = output(["cargo", "build", *PROFILE, "--message-format=json", f"--{kind}", name], cwd=ROOT).splitlines()
    built = [json.loads(line) for line in lines if '"compiler-artifact"' in line]
    return next(artifact["executable"] for artifact in built if artifact["executable"] and artifact["target"]["name"] == name)


class World:
    """A directory of its own, the release binary, and the peer server, stopped at the end."""

    def __init__(self, directory):
        self.directory = directory
        self.storefront = self.installed(build("bin", "storefront"))
        self.bare = self.installed(build("bench", "bare"))
        self.servers = []

    def __enter__(self):
        self.stored = self.file("profile.json", json.dumps(profile(), ensure_ascii=False))
        self.item = self.file("item.json", json.dumps(ITEM))
        self.peer = build("bench", "peer")
        peer = self.serve([self.peer, str(self.directory), str(self.stored)])
        self.http, self.https = peer["http"], peer["https"]
        self.authority = self.directory / "ca.pem"
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stdin.close()
            server.terminate()
            server.wait()

    def installed(self, program):
        """A copy of a program, as an installation makes one: what a linker has just written lies in memory in small pieces,
        and starts a tenth slower."""
        return Path(shutil.copy2(program, self.directory))

    def file(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def serve(self, argv, env=None):
        """Starts a server that prints one JSON line once it listens."""
        environment = {**os.environ, **(env or {})}
        server = subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        return json.loads(server.stdout.readline())

    def slow_peer(self, milliseconds):
        """The URL of a peer server that takes this long for each answer."""
        return self.peer_of(self.stored, milliseconds)

    def peer_of(self, stored, milliseconds=0):
        """The URL of a peer server whose customers have this profile."""
        directory = self.directory / f"peer-{milliseconds}"
        directory.mkdir(exist_ok=True)
        return self.serve([self.peer, str(directory), str(stored), str(milliseconds)])["http"]

    def count(self, *methods, url=None):
        """How many requests of these methods the peer server has answered."""
        with urllib.request.urlopen(f"{url or self.http}/counts") as reply:
            counts = json.load(reply)
        return sum(counts[method] for method in methods or counts)

    def home(self, name, base_url=None, authority=None):
        """The environment of a fresh user with one profile for a service at `base_url`."""
        home = self.directory / name
        (home / "config").mkdir(parents=True, exist_ok=True)
        config = home / "config" / "config.toml"
        if base_url:
            trust = f'ca-file = "{authority}"\n' if authority else ""
            config.write_text(
                f'default-profile = "shop"\n\n[profiles.shop]\nbase-url = "{base_url}"\n'
                f'store-view = "default"\ntoken = "token-of-zoe"\n{trust}'
            )
            config.chmod(0o600)
        environment = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_STATE_HOME": str(home / "state")}
        return {**environment, "STOREFRONT_CONFIG": str(config)} if base_url else environment
