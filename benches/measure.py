"""Whole processes, timed from outside: in turn, A B A B …, so that a machine that gets slower does so for all."""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

# GNU time; Python's own account of a child cannot go below Python's own size.
GNU_TIME = shutil.which("time")


@dataclass
class Side:
    """One program's way of doing a task; `argv` gets the number of the run. `work` is the number of requests it
    sends; None where only the server knows."""

    name: str
    argv: object
    env: dict = field(default_factory=dict)
    before: object = None
    work: int = 1
    walls: list = field(default_factory=list)
    cpus: list = field(default_factory=list)
    peak: float = None

    @property
    def wall(self):
        return statistics.median(self.walls)

    @property
    def cpu(self):
        return statistics.median(self.cpus)

    def ratios(self, other):
        """The medians of our wall and CPU time over theirs, pair by pair."""
        pairs = (zip(self.walls, other.walls), zip(self.cpus, other.cpus))
        return [statistics.median(own / others for own, others in times) for times in pairs]


class WorkNotDone(Exception):
    """A program was fast because it did nothing."""


def once(side, run, prefix=()):
    """Runs a side once; returns wall and CPU seconds."""
    if side.before:
        side.before(run)
    argv = [*prefix, *side.argv(run)]
    env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""), **side.env}
    with tempfile.TemporaryFile() as errors:
        null = os.open(os.devnull, os.O_RDWR)
        try:
            actions = [
                (os.POSIX_SPAWN_DUP2, null, 0),
                (os.POSIX_SPAWN_DUP2, null, 1),
                (os.POSIX_SPAWN_DUP2, errors.fileno(), 2),
            ]
            program = shutil.which(argv[0]) or argv[0]
            start = time.perf_counter()
            child = os.posix_spawn(program, argv, env, file_actions=actions)
            _, status, usage = os.wait4(child, 0)
            wall = time.perf_counter() - start
        finally:
            os.close(null)
        if os.waitstatus_to_exitcode(status) != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace")[-2000:]
            raise WorkNotDone(f"{side.name} ended with {os.waitstatus_to_exitcode(status)}: {argv}\n{said}")
    return wall, usage.ru_utime + usage.ru_stime


def peak(side, run):
    """The largest resident size of one run in MB; None without GNU time."""
    if not GNU_TIME:
        return None
    with tempfile.NamedTemporaryFile("r") as report:
        once(side, run, (GNU_TIME, "-f", "%M", "-o", report.name))
        sizes = re.findall(r"^\d+$", report.read(), re.MULTILINE)
    return int(sizes[-1]) / 1024 if sizes else None


def in_turn(sides, rounds, done=None):
    """Runs all sides in turn after one run each that is not counted. `done()` counts the work the server saw:
    every run of every side must have done its share."""
    for side in sides:
        count = done() if done else 0
        side.peak = peak(side, -1)
        once(side, -2)
        runs = 2 if side.peak else 1
        if done and done() - count != runs * side.work:
            raise WorkNotDone(f"{side.name}: {runs} × {side.work} expected, the server counts {done() - count}")
    count = done() if done else 0
    for run in range(rounds):
        for side in sides:
            wall, cpu = once(side, run)
            side.walls.append(wall)
            side.cpus.append(cpu)
    expected = rounds * sum(side.work for side in sides)
    if done and done() - count != expected:
        raise WorkNotDone(f"{expected} expected of all, the server counts {done() - count}")
    return sides


def output(argv, **options):
    """What a program prints."""
    return subprocess.run(argv, check=True, capture_output=True, text=True, **options).stdout
