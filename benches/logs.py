"""The tasks about the log of what was written: how large it may be, what a record syncs, and rows of one customer."""

import json
import re
import shutil
import sqlite3
import time

from measure import Side, WorkNotDone, in_turn, once
from tasks import Row, rows
from world import profile

PROFILES = 20_000
SMALL = 1_000_000
LISTED = 100_000
CUSTOMERS = 400
ADDRESSES = 120


def change(world):
    """An update that changes something in every run."""
    return lambda run: [world.storefront, "customer", "update", "--address", "1", "--city", f"Town {run} {time.time_ns()}"]


def log_of(home):
    (found,) = home.glob("state/storefront/log.db")
    return found


def large_log(world, rounds):
    """`customer update` with a large log, beside one with a small one. Each has a server of its own."""
    sides = []
    for name, profiles, small in ((f"{PROFILES:,} profiles, {SMALL:,} small writes", PROFILES, SMALL), ("10 profiles", 10, 0)):
        side = Side(name, change(world), world.home(f"log-{profiles}", world.slow_peer(0)))
        once(side, "first")
        fill(log_of(world.directory / f"log-{profiles}"), profiles, small)
        sides.append(side)
    yield "Update of a profile, the log has", rows(in_turn(sides, rounds))


def history(world, rounds):
    """`history` of many commands, beside that of one."""
    sides = []
    for name, writes in ((f"{LISTED:,} writes", LISTED), ("1 write", 0)):
        home = world.home(f"history-{writes}", world.http)
        once(Side("update", change(world), home), "first")
        fill(log_of(world.directory / f"history-{writes}"), 0, writes, each_alone=True)
        sides.append(Side(name, lambda _run: [world.storefront, "history"], home))
    yield "`history` of", rows(in_turn(sides, rounds))


def syncs(world, _rounds):
    """How often a record waits for the disk, beside a service that answers at once."""
    if not shutil.which("strace"):
        yield "Syncs of a record: strace is not installed", []
        return
    figures = []
    for jobs in (1, 8):
        names = (f"{customer},1,Town {jobs} {time.time_ns()}\n" for customer in range(1, CUSTOMERS + 1))
        records = world.file(f"synced-{jobs}.csv", "customer,address_id,city\n" + "".join(names))
        update = ["customer", "update", "--input", records, "--jobs", jobs, "--yes", "-o", "json"]
        admin = {"STOREFRONT_API": "magento", "STOREFRONT_ADMIN_TOKEN": "token-of-zoe"}
        home = {**world.home(f"synced-{jobs}", world.slow_peer(0)), **admin}
        figures.append(Row(f"{jobs} at a time", syncs=synced(world, update, home) / CUSTOMERS))
    home = world.home("synced-one", world.slow_peer(0))
    once(Side("storefront", change(world), home), "first")
    figures.append(Row("a single update, in all", syncs=synced(world, change(world)(0)[1:], home)))
    yield "Syncs of a record that updates a customer", figures


def synced(world, arguments, home):
    """How many syncs a run makes."""
    report = world.directory / "synced.txt"
    strace = ("strace", "-f", "-e", "trace=fsync,fdatasync,sync_file_range", "-o", str(report))
    once(Side("storefront", lambda _run: [str(word) for word in (world.storefront, *arguments)], home), 0, strace)
    return len(re.findall(r" (?:fsync|fdatasync|sync_file_range)\(", report.read_text()))


def one_customer(world, rounds):
    """As many rows of one Magento customer as they have addresses, and the same looked at again."""
    stored = world.file("long-book.json", json.dumps(profile(ADDRESSES), ensure_ascii=False))
    url = world.peer_of(stored)
    home = {**world.home("long-book", url), "STOREFRONT_API": "magento", "STOREFRONT_ADMIN_TOKEN": "token-of-zoe"}
    records = world.directory / "long-book.csv"

    def update(run):
        lines = (f"7,{address},Town {run} {time.time_ns()}\n" for address in range(1, ADDRESSES + 1))
        records.write_text("customer,address_id,city\n" + "".join(lines))
        return [str(word) for word in (world.storefront, "customer", "update", "--input", records, "--restart", "--yes", "-o", "json")]

    verify = [str(word) for word in (world.storefront, "verify", f"{records}.journal", "-o", "json")]
    sides = [
        Side("customer update", update, home, work=2 * ADDRESSES),
        Side("verify", lambda _run: verify, home, work=1),
    ]
    before = world.count("PUT", url=url)
    runs = max(3, rounds // 20)
    in_turn(sides, runs)
    written = world.count("PUT", url=url) - before
    if written % ADDRESSES or written < runs * ADDRESSES:
        raise WorkNotDone(f"{written} profiles were put")
    yield f"{ADDRESSES} rows of a customer with {ADDRESSES} addresses", [Row(side.name, side.wall * 1e3, side.cpu * 1e3, peak=side.peak) for side in sides]


def fill(log, profiles, small, each_alone=False):
    """Copies the only write of a log as those of the day before: of other customers with their profiles, and small ones
    of carts, in batches or each as a command of its own."""
    runs = small if each_alone else small // 10_000
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
    of_run = "service, store_view, profile, arguments, retention_days"
    of_day_before = "began - 86400000000 + i, ended - 86400000000 + i"
    connection = sqlite3.connect(log)
    with connection:
        ((run, write),) = connection.execute("SELECT run.id, write.id FROM run JOIN write ON write.run = run.id LIMIT 1")
        for count, operation, journal in ((profiles, "operation", "NULL"), (runs, "'quote add-item'", "NULL" if each_alone else "'/gone/' || i")):
            connection.execute(
                f"{numbers} INSERT INTO run ({of_run}, uuid, operation, began, ended, journal, header, is_complete) "
                f"SELECT {of_run}, hex(randomblob(16)), {operation}, {of_day_before}, {journal}, '{{}}', 1 "
                f"FROM run, n WHERE run.id = {run} AND i <= {count}",
                (max(count, 1),),
            )
        of_write = "call, service, owner_kind, outcome"
        of_day_before = "left_at - 86400000000 + i, closed_at - 86400000000 + i"
        connection.execute(
            f"{numbers} INSERT INTO write ({of_write}, run, owner, customer, effect, email, left_at, closed_at) "
            f"SELECT {of_write}, {run} + i, 1000 + i, 1000 + i, effect, randomblob(32), {of_day_before} "
            f"FROM write, n WHERE id = {write} AND i <= {profiles}",
            (max(profiles, 1),),
        )
        connection.execute(
            f"INSERT INTO document SELECT write.id, stored, sent FROM write, document WHERE document.write = {write} AND write.id > {write}"
        )
        connection.execute(
            f"{numbers} INSERT INTO write (call, service, outcome, run, record, record_hash, owner_kind, owner, effect, left_at, closed_at) "
            f"SELECT 'add-item', service, outcome, {run + profiles + 1} + i % {max(runs, 1)}, i, randomblob(32), 'cart', i % 50000, "
            f"json_object('owner', json_object('kind', 'cart', 'id', '' || i % 50000)), {of_day_before} "
            f"FROM write, n WHERE id = {write} AND i <= {small}",
            (max(small, 1),),
        )
    connection.close()


ALL = {"large-log": large_log, "history": history, "syncs": syncs, "one-customer": one_customer}
