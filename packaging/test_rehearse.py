#!/usr/bin/env python3
"""Tests of `rehearse`: `python3 packaging/test_rehearse.py`."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

PACKAGING = pathlib.Path(__file__).parent
sys.path.insert(0, str(PACKAGING))
try:
    import yaml
except ImportError:
    raise unittest.SkipTest("PyYAML is not installed") from None


def load():
    loader = importlib.machinery.SourceFileLoader("rehearse", str(PACKAGING / "rehearse"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("rehearse", loader))
    is_written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = is_written
    return module


rehearse = load()
WORKFLOW = yaml.safe_load((PACKAGING.parent / rehearse.WORKFLOW).read_text(encoding="utf-8"))
GITHUB = {"sha": "c0ffee", "repository_owner": "acme", "token": ""}
STEPS = list(rehearse.steps(WORKFLOW, GITHUB))
X86 = "x86_64-unknown-linux-musl"


class Rehearse(unittest.TestCase):
    def test_each_job_follows_those_that_it_needs(self):
        jobs = list(dict.fromkeys(step.job for step in STEPS))
        self.assertEqual(sorted(jobs), sorted(WORKFLOW["jobs"]))
        for job, spec in WORKFLOW["jobs"].items():
            needs = spec.get("needs", [])
            for need in [needs] if isinstance(needs, str) else needs:
                self.assertLess(jobs.index(need), jobs.index(job))

    def test_every_expression_of_the_workflow_is_understood(self):
        for step in STEPS:
            step.system()
            self.assertIn(step.applies(), [True, False])
            settings = WORKFLOW.get("env", {}) | step.spec.get("env", {}) | step.step.get("env", {})
            for value in [*settings.values(), *step.step.get("with", {}).values(), step.command]:
                self.assertNotIn("${{", step.evaluate(str(value)))

    def test_only_what_this_system_can_run_is_run(self):
        runs = {step.place for step in STEPS if step.job_obstacle({X86, "aarch64-apple-darwin"}) is None}
        self.assertEqual(runs, {"tag", "ci", "pack", f"smoke ({X86})", "draft"})


if __name__ == "__main__":
    unittest.main()
