#!/usr/bin/env python3
"""Prints the figures by which the structure of the sources is judged: `scripts/figures.py [ROOT]`.

Tests, comments and blank lines are not counted. A figure is a question, not a limit.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
# The files that an update of a profile, and a batch with --resume, enter, as CONTRIBUTING.md lists them.
UPDATE = [
    "customer/update/mod.rs", "ops/mod.rs", "check/body.rs", "core/src/lint.rs", "client/service.rs", "ops/customers.rs",
    "ops/profile/replace.rs", "ops/profile/preview.rs", "ops/profile/steps.rs", "ops/profile/lag.rs", "ops/profile/earlier.rs", "ops/profile/read.rs",
    "ops/profile/mod.rs", "ops/profile/owner.rs", "ops/profile/messages.rs", "state/mod.rs", "effect/lag.rs", "log/customers.rs", "log/writes.rs",
    "profile/stored.rs", "profile/merge.rs", "profile/diff.rs", "profile/defaults.rs", "profile/equal.rs", "profile/region.rs", "profile/magento.rs",
    "profile/verify.rs", "profile/path.rs", "profile/address.rs", "interface/request.rs", "client/http.rs", "client/attempt.rs", "client/classify.rs",
    "write/mod.rs", "core/src/outcome.rs",
]
BATCH = ["/batch/", "/journal/", "input/records.rs", "ops/mod.rs", "service.rs", "runtime.rs", "outcome.rs", "summary.rs"]


def sources():
    """Yields each file of the program and its crates with its lines of code."""
    for root in ["src", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("crates/*/src"))]:
        for path in sorted((ROOT / root).rglob("*.rs")):
            parts = set(path.relative_to(ROOT).parts)
            if {"simulation", "tests"} & parts or path.name == "tests.rs":
                continue
            lines = path.read_text(encoding="utf-8").split("\n")
            end = next(
                (at for at in range(len(lines) - 1) if "#[cfg(test)]" in lines[at] and re.match(r"\s*mod .*\{", lines[at + 1])),
                len(lines),
            )
            yield path.relative_to(ROOT), lines[:end]


def code(lines):
    return [line for line in lines if line.strip() and not line.strip().startswith("//")]


def room(path):
    """A directory or file at the top of `src`, or a crate."""
    return "/".join(path.parts[:2]).removesuffix(".rs")


def arrows(files):
    """Pairs of rooms of which one names the other by a path of its crate or of another."""
    crates = {"storefront_core": "crates/core", "storefront_sandbox": "crates/sandbox"}
    rooms = {room(path) for path in files}
    found = set()
    for path, lines in files.items():
        for crate, name in re.findall(r"\b(crate|storefront_core|storefront_sandbox)::(\w+)", "\n".join(code(lines))):
            other = crates.get(crate, f"src/{name}" if path.parts[0] == "src" else room(path))
            if other in rooms and other != room(path):
                found.add((room(path), other))
    return rooms, found


def floors(rooms, pairs):
    """The longest way down, each room once."""
    below = {name: [other for own, other in pairs if own == name] for name in rooms}

    def depth(name, seen):
        return 1 + max((depth(other, seen | {name}) for other in below.get(name, []) if other not in seen), default=0)

    return max(depth(name, frozenset()) for name in rooms)


def functions(files):
    """Yields each function with its file, its name, its parameters and its length."""
    for path, lines in files.items():
        start = None
        for at, line in enumerate(lines):
            match = re.match(r"( *)(?:pub(?:\([^)]*\))? )?(?:const |async )*fn (\w+)", line)
            if match:
                start = (at, match[1], match[2])
            if start and line == start[1] + "}":
                head = "\n".join(lines[start[0] : at]).split("{")[0]
                yield path, start[2], head, at - start[0]
                start = None


def types(files, entered):
    """Types of this project that the files name."""
    defined = {name for lines in files.values() for line in lines for name in re.findall(r"\b(?:struct|enum|trait|type) (\w+)", line)}
    texts = [
        line
        for path, lines in files.items()
        if any(name in str(path) for name in entered)
        for line in code(lines)
    ]
    return {name for line in texts for name in re.findall(r"\b[A-Z]\w+", line)} & defined


# What sends a write, and what says how far a command is.
SENDS = re.compile(r"(?:service|self\.service|sent\.service)\.(?:write|send|attempt|send_preparation)\(|\bsend_request\(|\.send_next\(|calls\.send\(")
STAGE = re.compile(r"\bstage\.(?:set|replace)\(|\bapplied\.(?:set|replace)\(")
# Files that `quote add-item -i FILE --resume` enters: the batch and its journal, the operation, and the way of a call.
ADD_ITEM = ["/batch/", "/journal/", "/log/", "/write/", "/client/", "input/records", "input/csv", "input/columns", "ops/add_item", "ops/cart", "ops/mod.rs", "quote/add_item"]


def circles(pairs):
    """Pairs of rooms that name each other."""
    return sorted(pair for pair in pairs if pair[0] < pair[1] and pair[::-1] in pairs)


def ways(files, program):
    """Prints the figures of the one way to write."""
    text = {path: "\n".join(code(lines)) for path, lines in program.items()}
    operations = {path: body for path, body in text.items() if path.parts[1] == "ops"}
    senders = sorted(str(path) for path, body in operations.items() if SENDS.search(body))
    stages = sorted(str(path) for path, body in text.items() if STAGE.search(body))
    looks = sorted(name for _, name, _, _ in functions(files) if name.startswith("look"))
    entered = [path for path in program if any(name in str(path) for name in ADD_ITEM)]
    print(f"files of src/ops that send: {len(senders)} ({', '.join(senders)})")
    print(f"files that set how far a command is: {len(stages)} ({', '.join(stages)})")
    print(f"functions named look...: {len(looks)}; files on the way of `quote add-item -i --resume`: {len(entered)}")


def main():
    files = dict(sources())
    total = sum(len(code(lines)) for lines in files.values())
    program = {path: lines for path, lines in files.items() if path.parts[0] == "src" and path.parts[1] != "sandbox"}
    outside = {
        path: lines
        for path, lines in program.items()
        if path.parts[1] not in {"plan", "text", "wire", "failure.rs"} or (ROOT / "crates").exists()
    }
    core = {path: lines for path, lines in files.items() if path not in outside and "sandbox" not in path.parts}
    rooms, pairs = arrows(files)
    every = list(functions(files))
    long = [f"{path}:{name} {length}" for path, name, _, length in every if length > 50]
    flags = [name for _, name, head, _ in every for _ in re.findall(r"\w+: bool\b", head)]
    texts = "\n".join("\n".join(code(lines)) for lines in files.values())
    chosen = sorted({name for name in flags if re.search(rf"\b{name}\((?:[^()]*, )?(?:true|false)\b", texts)})
    asks = sum(line.count("is_magento()") for lines in outside.values() for line in code(lines))
    clap = [path for path, lines in core.items() if any("clap" in line for line in code(lines))]
    hooks = 0
    for lines in program.values():
        for at, line in enumerate(lines[:-1]):
            hooks += "#[cfg(test)]" in line and not re.match(r"\s*(pub )?mod tests?;", lines[at + 1])
    print(f"crates: {1 + len(list(ROOT.glob('crates/*/Cargo.toml')))}; lines of code: {total}")
    print(f"rooms: {len(rooms)}; floors: {floors(rooms, pairs)}; arrows: {len(pairs)}; circles: {len(circles(pairs))}")
    ways(files, program)
    print(f"types named on the way of one update: {len(types(files, UPDATE))}; of a batch: {len(types(files, BATCH))}")
    print(f"`is_magento()` in the program: {asks}; files of the core with clap: {len(clap)}; `#[cfg(test)]` hooks: {hooks}")
    print(f"functions over 50 lines: {len(long)} ({', '.join(long)})")
    print(f"boolean parameters: {len(flags)}; functions that a literal true or false chooses in: {len(chosen)} ({', '.join(chosen)})")


main()
