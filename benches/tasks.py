"""The tasks: what storefront does, the same by each installed peer, and how the server tells that it was done."""

import itertools
import json
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from measure import Side, WorkNotDone, in_turn, once, output, peak
from world import ITEM, ROOT, build as build_bench

QUOTE_ITEM = "/V1/storeview/default/user/quote/item"
PROFILE = "/V1/storeview/default/customer/profile"
BEARER = "Authorization: Bearer token-of-zoe"
JSON = "Content-Type: application/json"
BARE = "its HTTP library alone"
SYSTEM_BUNDLES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]


@dataclass
class Row:
    """A line of the table; what was not measured is None."""

    name: str
    wall_ms: float = None
    cpu_ms: float = None
    cpu_us_each: float = None
    peak: float = None
    rate: float = None
    ratio: float = None
    cpu_ratio: float = None
    syncs: float = None


def rows(sides):
    """The first side is ours; each other's ratio is our time over its own."""
    own = sides[0]
    for side in sides:
        wall, cpu = (None, None) if side is own else own.ratios(side)
        yield Row(side.name, side.wall * 1e3, side.cpu * 1e3, peak=side.peak, ratio=wall, cpu_ratio=cpu)


def installed(sides):
    return [side for side in sides if shutil.which(side.argv(0)[0])]


def fixed(*argv):
    return lambda _run: list(map(str, argv))


# one request ---------------------------------------------------------------------------------------------------


def one_request(world, rounds):
    """`quote add-item` with a config file, beside one POST."""
    posted = lambda: world.count("POST")
    add = fixed(world.storefront, "quote", "add-item", "--input", world.item)
    curl = ["curl", "-sS", "--fail", "-H", BEARER, "-H", JSON, "--data-binary", f"@{world.item}"]
    url = world.http + QUOTE_ITEM
    sides = [
        Side("storefront", add, world.home("http", world.http)),
        Side(BARE, fixed(world.bare, url, "token-of-zoe", world.item)),
        Side("curl", fixed(*curl, url)),
        Side("xh", fixed("xh", "--ignore-stdin", "POST", url, BEARER.replace(": ", ":"), f"@{world.item}")),
        Side("httpie", fixed("http", "--ignore-stdin", "POST", url, BEARER.replace(": ", ":"), f"@{world.item}")),
    ]
    yield "One request, HTTP", rows(in_turn(installed(sides), rounds, posted))
    url = world.https + QUOTE_ITEM
    sides = [
        Side("storefront", add, world.home("tls", world.https, world.authority)),
        Side(BARE, fixed(world.bare, url, "token-of-zoe", world.item, "--ca-file", world.authority)),
        Side("curl", fixed(*curl, "--cacert", world.authority, url)),
    ]
    yield "One request, TLS, a CA file", rows(in_turn(installed(sides), rounds, posted))
    system = next((Path(path) for path in SYSTEM_BUNDLES if Path(path).is_file()), None)
    if not system:
        return
    bundle = world.file("bundle.pem", system.read_text() + world.authority.read_text())
    sides = [
        Side("storefront", add, {**world.home("bundle", world.https), "SSL_CERT_FILE": str(bundle)}),
        Side("curl", fixed(*curl, "--cacert", bundle, url)),
    ]
    yield "One request, TLS, the system's bundle", rows(in_turn(installed(sides), rounds, posted))


# update --------------------------------------------------------------------------------------------------------


def update(world, rounds):
    """`customer update`: two reads, a write in the log, PUT, read-back; curl does the four calls on one connection. Each has a server
    of its own: to storefront, what the other writes would be another editor's change."""
    theirs = world.slow_peer(0)
    url = theirs + PROFILE
    read = ["-sS", "--fail", "-H", BEARER, url]
    write = ["-sS", "--fail", "-X", "PUT", "-H", BEARER, "-H", JSON, "--data-binary", f"@{world.directory}/profile.json", url]
    curl = ["curl", *read, "--next", *read, "--next", *write, "--next", *read]
    change = lambda run: [world.storefront, "customer", "update", "--address", "1", "--city", f"Town {run} {time.time_ns()}"]
    done = lambda: world.count() + world.count(url=theirs)
    for place, state in disks(world):
        home = {**world.home("update", world.http), "XDG_STATE_HOME": str(state)}
        sides = [Side("storefront", change, home, work=4), Side("curl, four calls", fixed(*curl), work=4)]
        yield f"Update of a profile, log {place}", rows(in_turn(installed(sides), rounds, done))


def disks(world):
    """Directories for what is synced: one on the disk and, where there is one, one in memory."""
    places = [("on the disk", world.directory), ("in memory, no fsync", Path("/dev/shm"))]
    for place, parent in places:
        if parent.is_dir():
            with tempfile.TemporaryDirectory(dir=parent, prefix="storefront-") as directory:
                yield place, Path(directory)


# start and completion ------------------------------------------------------------------------------------------


def start(world, rounds):
    """What every call pays, and what a Tab costs."""
    source = world.file("empty.rs", "fn main() {}")
    empty = world.directory / "empty"
    output(["rustc", "-O", "-o", str(empty), str(source)])
    home = world.home("start", world.http)
    sides = [Side("storefront --version", fixed(world.storefront, "--version"), home), Side("an empty Rust program", fixed(empty))]
    yield "Start", rows(in_turn(sides, rounds))
    words = ["--", "storefront", "quote", "add-item", "--profile", ""]
    asked = {**home, "STOREFRONT_COMPLETE": "bash", "_CLAP_COMPLETE_INDEX": str(len(words) - 2), "_CLAP_IFS": "\n"}
    tab = [world.storefront, *words]
    if "shop" not in output(tab, env=asked).split():
        raise WorkNotDone("the profile was not offered")
    yield "Completion of a profile's name", rows(in_turn([Side("storefront", fixed(*tab), asked)], rounds))


def sandbox(world, rounds):
    """`--sandbox`: the first run makes and seeds the database, later ones open it."""
    add = ["quote", "add-item", "--sku", "mug-blue", "--qty", "1", "--quote-id", "1"]
    later = world.home("sandbox")
    running = world.serve([world.storefront, "sandbox", "serve", "--data", str(world.directory / "served.db")])
    beside = {
        **world.home("beside"),
        "STOREFRONT_BASE_URL": running["url"],
        "STOREFRONT_TOKEN": running["customer_token"],
        "STOREFRONT_STORE_VIEW": "default",
    }
    first = world.home("first")
    sides = [
        Side("--sandbox, later runs", fixed(world.storefront, "--sandbox", *add), later),
        Side("--sandbox, first run", fixed(world.storefront, "--sandbox", *add), first,
             before=lambda _: shutil.rmtree(world.directory / "first" / "data", ignore_errors=True)),
        Side("a sandbox that runs already", fixed(world.storefront, *add), beside),
    ]
    in_turn(sides, rounds)
    for home, runs in ((later, 1), (first, 0)):
        held = quantity(world, Path(home["XDG_DATA_HOME"]) / "storefront" / "sandbox.db")
        if held < 1 or (runs and held < rounds):
            raise WorkNotDone(f"the quote holds {held} after {rounds} runs")
    yield "The sandbox", rows(sides)


def quantity(world, database):
    """How many blue mugs lie in quote 1 of a sandbox."""
    everything = json.loads(output([world.storefront, "sandbox", "show", "--data", str(database), "-o", "json"]))
    quote = next(quote for quote in everything["quotes"] if quote["id"] == 1)
    return sum(int(item["qty"]) for item in quote["items"] if item["sku"] == "mug-blue")


# many records --------------------------------------------------------------------------------------------------

RECORDS = 20_000
CURLS = 400


def many(world, rounds):
    """A run over many records, beside tools that send the same body again and again."""
    for place, directory in disks(world):
        records = directory / "records.ndjson"
        write_records(records, RECORDS)
        for jobs in (8, 32):
            bare = fixed(world.bare, world.http + QUOTE_ITEM, "token-of-zoe", records, "--jobs", jobs)
            sides = [ours(world, records, RECORDS, jobs), Side(BARE, bare, work=RECORDS)]
            sides += loaders(world.http + QUOTE_ITEM, BEARER, world.item, RECORDS, jobs)
            figures = loaded(sides, max(3, rounds // 12), lambda: world.count("POST"))
            yield f"{RECORDS:,} records, {jobs} at a time, journal {place}", figures


def latency(world, rounds):
    """A run against a service that takes 20 ms for each answer, beside what sends without a journal."""
    url = world.slow_peer(20)
    for jobs in (8, 64, 256):
        # Two seconds of work, but that many connections also have to be opened.
        count = jobs * 100
        records = world.file("slow.ndjson", "")
        write_records(records, count)
        bare = fixed(world.bare, url + QUOTE_ITEM, "token-of-zoe", records, "--jobs", jobs)
        sides = [ours(world, records, count, jobs, url), Side(BARE, bare, work=count)]
        sides += [side for side in loaders(url + QUOTE_ITEM, BEARER, world.item, count, jobs) if side.name == "oha"]
        figures = loaded(sides, max(3, rounds // 20), lambda: world.count("POST", url=url))
        yield f"Answers after 20 ms, {jobs} at a time", figures


CUSTOMERS = 800


def corrections(world, rounds):
    """One address of each of many Magento customers, at a service that takes 20 ms for each answer: a read and a PUT for each,
    beside as many requests."""
    url = world.slow_peer(20)
    requests = world.file("requests.ndjson", "")
    write_records(requests, 2 * CUSTOMERS)
    for place, directory in disks(world):
        records = directory / "corrections.csv"

        def update(run):
            rows = (f"{customer},1,Town {run} {time.time_ns()}\n" for customer in range(1, CUSTOMERS + 1))
            records.write_text("customer,address_id,city\n" + "".join(rows))
            return list(map(str, [world.storefront, "customer", "update", "--input", records, "--jobs", 8, "--restart", "--yes", "-o", "json"]))

        admin = {"STOREFRONT_API": "magento", "STOREFRONT_ADMIN_TOKEN": "token-of-zoe", "XDG_STATE_HOME": str(directory)}
        bare = fixed(world.bare, url + QUOTE_ITEM, "token-of-zoe", requests, "--jobs", 8)
        sides = [
            Side("storefront", update, {**world.home("corrections", url), **admin}, work=2 * CUSTOMERS),
            Side(BARE, bare, work=2 * CUSTOMERS),
        ]
        figures = loaded(sides, max(3, rounds // 20), lambda: world.count(url=url))
        yield f"Corrections of {CUSTOMERS} customers, answers after 20 ms, 8 at a time, log {place}", figures


WRITTEN = 10_000


def verify(world, rounds):
    """`journal verify` of a batch over many Magento customers, at a service that takes 20 ms for each answer, beside as many reads."""
    url = world.slow_peer(20)
    reads = world.file("reads.txt", "".join(f"/V1/customers/{customer}\n" for customer in range(1, WRITTEN + 1)))
    rows = (f"{customer},1,Verified\n" for customer in range(1, WRITTEN + 1))
    records = world.file("verified.csv", "customer,address_id,city\n" + "".join(rows))
    home = {**world.home("verify", url), "STOREFRONT_API": "magento", "STOREFRONT_ADMIN_TOKEN": "token-of-zoe"}
    update = [world.storefront, "customer", "update", "--input", records, "--jobs", 64, "--yes", "-o", "json"]
    once(Side("storefront", fixed(*update), home), "first")
    looked = fixed(world.storefront, "journal", "verify", f"{records}.journal", "--jobs", 8, "-o", "json")
    bare = fixed(world.bare, url, "token-of-zoe", reads, "--jobs", 8, "--read")
    sides = [Side("storefront", looked, home, work=WRITTEN), Side(BARE, bare, work=WRITTEN)]
    figures = loaded(sides, max(1, rounds // 20), lambda: world.count("GET", url=url))
    yield f"What a batch wrote to {WRITTEN:,} customers, read again, answers after 20 ms, 8 at a time", figures


def growth(world, rounds):
    """Cost and memory for each record, however many there are."""
    return grown(world, (1_000, 10_000, 100_000), 32)


def million(world, rounds):
    """Memory is flat in the number of records."""
    return grown(world, (10_000, 1_000_000), 256)


def grown(world, counts, jobs):
    for count in counts:
        records = world.directory / f"{count}.ndjson"
        write_records(records, count)
        sides = [ours(world, records, count, jobs)]
        yield f"{count:,} records, {jobs} at a time", loaded(sides, 1, lambda: world.count("POST"))


FINISHED = 200_000


def resume(world, rounds):
    """`--resume` where every record is done: the journal and the input are read, nothing is sent."""
    records = world.directory / "finished.ndjson"
    write_records(records, FINISHED)
    once(ours(world, records, FINISHED, 32), 0)
    again = ours(world, records, 0, 32)
    side = Side("storefront --resume", lambda run: [word.replace("--restart", "--resume") for word in again.argv(run)], again.env, work=0)
    in_turn([side], max(3, rounds // 20), lambda: world.count("POST"))
    rate, each = FINISHED / side.wall, side.cpu * 1e6 / FINISHED
    yield f"A finished journal of {FINISHED:,} records read again", [Row(side.name, rate=rate, cpu_us_each=each, peak=side.peak)]


# a large profile -----------------------------------------------------------------------------------------------

UNITS = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}
STEPS = ["a_profile_merged", "addresses_read_and_checked", "two_profiles_compared", "a_replacement_verified"]
YARDSTICK = "a_profile_read_and_written"
ADDRESSES = "30000"


def profile(_world, _rounds):
    """What is done with a profile of 30,000 addresses, beside reading and writing it with serde_json."""
    named = [YARDSTICK, *STEPS]
    text = output([build_bench("bench", "parts"), "--bench", "--sample-count", "5", *named])
    times, part = {}, None
    for line in text.splitlines():
        if found := re.search(r"[├╰]─ (\w+) +(?:([\d.]+) (ns|µs|ms|s) .*)?", line):
            if found[1] == ADDRESSES:
                times[part] = float(found[2]) * UNITS[found[3]]
            elif not found[1].isdigit():
                part = found[1]
    if missing := set(named) - set(times):
        raise WorkNotDone(f"not measured: {', '.join(sorted(missing))}\n{text}")
    yardstick = times[YARDSTICK]
    whole = sum(times[step] for step in STEPS)
    found = [Row("merged, checked, compared and verified", wall_ms=whole), Row("serde_json alone: read and written", wall_ms=yardstick, ratio=whole / yardstick)]
    found += [Row(step.replace("_", " "), wall_ms=times[step]) for step in STEPS]
    yield "A profile of 30,000 addresses, the fastest of five", found


def write_records(path, count):
    """Each record has a quote of its own: nothing has to wait for another."""
    head, tail = json.dumps(ITEM).split('"quote_id": "1"')
    with path.open("w") as out:
        out.writelines(f'{head}"quote_id": "{number}"{tail}\n' for number in range(count))


def ours(world, records, count, jobs, url=None):
    argv = fixed(world.storefront, "quote", "add-item", "--input", records, "--jobs", jobs, "--restart", "--yes", "-o", "json")
    home = world.home("slow", url) if url else world.home("many", world.http)
    return Side("storefront", argv, home, work=count)


def loaders(url, bearer, body, count, jobs):
    """Load generators that post a body `count` times; `xargs` fewer times, for it takes its time."""
    script = Path(body).with_name("post.lua")
    script.write_text(
        f'wrk.method = "POST"\nwrk.body = io.open("{body}"):read("*a")\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
        f'wrk.headers["Authorization"] = "{bearer.split(": ")[1]}"\n'
    )
    curl = f"seq {CURLS} | xargs -P {jobs} -I{{}} curl -sS --fail -o /dev/null -H '{bearer}' -H '{JSON}' --data-binary @{body} {url}"
    sides = [
        Side("oha", fixed("oha", "--no-tui", "-n", count, "-c", jobs, "-m", "POST", "-H", bearer, "-H", JSON, "-D", body, url), work=count),
        Side("wrk, 1 thread, 1 s", fixed("wrk", "-t1", f"-c{jobs}", "-d1s", "-s", script, url), work=None),
        Side("ab -k", fixed("ab", "-q", "-k", "-n", count, "-c", jobs, "-p", body, "-T", "application/json", "-H", bearer, url), work=count),
    ]
    xargs = [Side(f"xargs -P {jobs} curl", fixed("sh", "-c", curl), work=CURLS)]
    return installed(sides) + xargs * bool(shutil.which("curl"))


def loaded(sides, rounds, done):
    """Runs the sides in turn; rate and CPU by the requests the server counted."""
    rates, cpus = ({side.name: [] for side in sides} for _ in range(2))
    for run, side in itertools.product(range(-1, rounds), sides):
        before = done()
        wall, cpu = once(side, run)
        # A tool that goes by the clock may leave a request on its way.
        work = settled(done) - before
        if work != side.work and (side.work or work < 1):
            raise WorkNotDone(f"{side.name}: {side.work} expected, the server counts {work}")
        if run >= 0:
            rates[side.name].append(work / wall)
            cpus[side.name].append(cpu * 1e6 / work)
    own, own_cpus = rates[sides[0].name], cpus[sides[0].name]
    for side in sides:
        pairs = [ours / theirs for ours, theirs in zip(own, rates[side.name])]
        costs = [ours / theirs for ours, theirs in zip(own_cpus, cpus[side.name])]
        yield Row(
            side.name,
            rate=statistics.median(rates[side.name]),
            cpu_us_each=statistics.median(cpus[side.name]),
            peak=peak(side, rounds),
            ratio=None if side is sides[0] else statistics.median(pairs),
            cpu_ratio=None if side is sides[0] else statistics.median(costs),
        )


def settled(done):
    """A count that has stopped growing."""
    count = done()
    while True:
        time.sleep(0.05)
        before, count = count, done()
        if count == before:
            return count


# the sandbox's writes, and what the build costs --------------------------------------------------------------------


def durable(world, rounds):
    """Writes a second of a sandbox whose database is on a disk."""
    database = world.directory / "durable.db"
    running = world.serve([world.storefront, "sandbox", "serve", "--data", str(database)])
    body = world.file("mug.json", json.dumps({"cartItem": {"sku": "mug-blue", "qty": 1, "quote_id": "1"}}))
    sides = loaders(running["url"] + QUOTE_ITEM, f"Authorization: Bearer {running['customer_token']}", body, RECORDS, 32)
    figures = loaded(sides, max(3, rounds // 12), lambda: quantity(world, database))
    yield "Durable writes to the sandbox, 32 at a time, by", figures


def size(world, _rounds):
    """The release binary."""
    yield f"The release binary: {Path(world.storefront).stat().st_size / 1e6:.2f} MB", []


def build(_world, _rounds):
    """Clean builds, as after a clone; the crates are already here."""
    for profile in ([], ["--release"]):
        with tempfile.TemporaryDirectory(dir=ROOT / "target") as target:
            begin = time.perf_counter()
            subprocess.run(["cargo", "build", "--quiet", "--target-dir", target, *profile], cwd=ROOT, check=True)
            yield f"A clean `cargo build{''.join(f' {flag}' for flag in profile)}`: {time.perf_counter() - begin:.0f} s", []


ALL = {
    "one-request": one_request,
    "update": update,
    "start": start,
    "many": many,
    "latency": latency,
    "corrections": corrections,
    "verify": verify,
    "growth": growth,
    "resume": resume,
    "profile": profile,
    "size": size,
    "sandbox": sandbox,
    "durable": durable,
    "million": million,
    "build": build,
}
