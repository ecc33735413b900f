"""The tasks about a batch as a whole: its plan, and the rest of one that was stopped."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from measure import Side, WorkNotDone, once, peak
from tasks import Row, fixed, ours, write_records

PLANNED = 60_000
HALF = 100_000
ADMIN = {"STOREFRONT_API": "magento", "STOREFRONT_ADMIN_TOKEN": "token-of-zoe"}


def plan(world, _rounds):
    """Peak memory of a batch over many Magento customers, of its plan as it is written, and as it is applied."""
    url = world.slow_peer(0)
    records, planned = world.directory / "planned.csv", world.directory / "planned.plan"

    def rows(_run):
        lines = (f"{customer},1,Town {time.time_ns()}\n" for customer in range(1, PLANNED + 1))
        records.write_text("customer,address_id,city\n" + "".join(lines))

    def new(run):
        rows(run)
        for file in (planned, Path(f"{planned}.journal")):
            file.unlink(missing_ok=True)

    update = [world.storefront, "customer", "update", "--input", records, "--jobs", 8, "-o", "json"]
    home = {**world.home("planned", url), **ADMIN}
    sides = [
        Side("the batch", fixed(*update, "--yes", "--restart"), home, rows, PLANNED),
        Side("--plan", fixed(*update, "--plan", planned), home, new, 0),
        Side("apply", fixed(world.storefront, "apply", planned, "--jobs", 8, "--yes", "-o", "json"), home, None, PLANNED),
    ]
    figures = []
    for side in sides:
        before, begun = world.count("PUT", url=url), time.perf_counter()
        side.peak = peak(side, 0)
        figures.append(Row(side.name, (time.perf_counter() - begun) * 1e3, peak=side.peak))
        if (written := world.count("PUT", url=url) - before) != side.work:
            raise WorkNotDone(f"{side.name}: {written} profiles were put, not {side.work}")
    yield f"A batch of {PLANNED:,} customers and its plan", figures


def half(world, _rounds):
    """A batch that is stopped by Ctrl-C in the middle and resumed, beside one that is not."""
    posted = lambda: world.count("POST")
    records = world.directory / "half.ndjson"
    write_records(records, HALF)
    whole = ours(world, records, HALF, 32)
    figures = [measured("begun", whole, posted)]
    # Beside the journal of the one it would be refused.
    again = str(shutil.copy(records, world.directory / "stopped.ndjson"))
    argv = [again if word == str(records) else word for word in whole.argv(0) if word != "--restart"]
    stopped = {"env": {**os.environ, **whole.env, **world.home("half", world.http)}}
    before = posted()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(argv, **stopped, **quiet)
    while posted() - before < HALF // 2 and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    running.wait()
    sent = posted() - before
    rest = Side(f"resumed after {sent:,}", fixed(*argv, "--resume"), stopped["env"], work=HALF - sent)
    figures.append(measured(rest.name, rest, posted))
    yield f"{HALF:,} records, 32 at a time", figures


def measured(name, side, posted):
    """A side that is run once: what it is given is used up."""
    report = Path(side.argv(0)[0]).parent / "peak.txt"
    before = posted()
    wall, cpu = once(side, 0, ("time", "-f", "%M", "-o", str(report)))
    if (work := posted() - before) != side.work:
        raise WorkNotDone(f"{name}: {side.work} expected, the server counts {work}")
    return Row(name, wall * 1e3, cpu * 1e3, cpu * 1e6 / work, int(report.read_text().split()[-1]) / 1024, work / wall)


ALL = {"plan": plan, "half": half}
