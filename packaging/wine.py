#!/usr/bin/env python3
"""Runs the suite for Windows under Wine, and compares what fails with the list in `tests/suite/windows.rs`.

    packaging/wine.py           builds and runs it; needs mingw-w64, wine and the Rust target x86_64-pc-windows-gnu
    packaging/wine.py FILE      compares what an earlier run has printed
"""

import os
import pathlib
import re
import subprocess
import sys

import project

TARGET = "x86_64-pc-windows-gnu"
LIST = "tests/suite/windows.rs"
RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", re.MULTILINE)


def expected(root=project.ROOT):
    """Returns {test: whether it fails each time} of the list."""
    text = (root / LIST).read_text(encoding="utf-8")
    found = re.search(r"const FAIL_UNDER_WINE.*?= \[\n(.*?)\n\];", text, re.DOTALL)
    entries = re.findall(r'\(\s*"([^"]+)",\s*(Always|Sometimes),\s*"[^"]+",?\s*\)', found[1] if found else "")
    if not entries:
        raise ValueError(f"{LIST} has no list FAIL_UNDER_WINE")
    return {name: how == "Always" for name, how in entries}


def compare(output, root=project.ROOT):
    """Returns what differs from the list, as lines; raises `ValueError` where the run is not whole."""
    results = dict(RESULT.findall(output))
    summary = re.findall(r"^test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored", output, re.MULTILINE)
    if not summary or sum(map(int, summary[-1])) != len(results):
        raise ValueError("the suite did not run to its end")
    listed = expected(root)
    failed = {name for name, result in results.items() if result == "FAILED"}
    differing = [f"{name} fails and is not in the list" for name in sorted(failed - listed.keys())]
    for name, always in listed.items():
        if name not in results:
            differing.append(f"{name} is in the list and was not run")
        elif always and name not in failed:
            differing.append(f"{name} is in the list and passes")
    return differing


def run(root=project.ROOT):
    """Builds the suite and runs it; prints each line as it comes, and returns all of them."""
    variables = {
        "CC_x86_64_pc_windows_gnu": "x86_64-w64-mingw32-gcc",
        "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER": "x86_64-w64-mingw32-gcc",
        "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER": "wine",
        "WINEDEBUG": "-all",
        # Neither .NET nor a browser is asked for.
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
        # A start takes half a second: of the table of faults that has most starts only these rows are run.
        "WAY_BACK": "customer update",
    }
    command = ["cargo", "test", "--locked", "--target", TARGET, "--test", "suite"]
    lines = []
    environment = os.environ | variables
    with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as ran:
        for line in ran.stdout:
            lines.append(line.decode("utf-8", "replace").replace("\r\n", "\n"))
            print(lines[-1], end="", flush=True)
    return "".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 2 or "--help" in sys.argv:
        sys.exit(__doc__)
    try:
        printed = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8") if len(sys.argv) == 2 else run()
        lines = compare(printed)
        if lines:
            sys.exit("\n".join(["error: the tests that fail under Wine are not those of the list:", *lines]))
        print("under Wine the tests of the list fail, and no others")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
