"""Live pools under load, dying clients and a system that refuses: no request may vanish.

Each handler takes its share over TCP and over a Unix socket, first in one pool that goes on serving, then in fresh
pools that are closed under load. The tests of the program fail where sent is not completed + failed + refused +
cancelled, as clients and pool count them, or where something is left open; this ends with what they say.
"""

import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.experiment import Experiment, Found, Rows, Task, by_arm
from poolpilot.errors import ServerError

HANDLERS = ("per_connection", "pool", "hybrid")
SOCKETS = ("OverTcp", "OnAUnixSocket")
TESTS = {"serves": "LosesNoRequestToFaultsWhileItServes", "closes": "ClosesUnderLoadWithEveryRequestAccountedFor"}
PARTS = tuple(f"{kind} {handler}{socket}" for kind in TESTS for handler in HANDLERS for socket in SOCKETS)
SERVING = len(HANDLERS) * len(SOCKETS)

BUILDS = {
    "plain": ("build/tests", 10_000_000, 100_000, 1_000),
    "thread": ("build/thread", 120_000, 1_200, 60),
    "address": ("build/address", 300_000, 3_000, 60),
}
"""Folder of each build, and its requests, changes of knobs, and pools to close, of all parts together."""


def measured(task: Task) -> Found:
    """Runs one test of the program, in a process of its own, and returns what it has counted.

    Raises:
        ServerError: The test has failed, or there is none.
    """
    kind, place = task.scenario.split()
    folder, requests, changes, closes = BUILDS[task.arm]
    share = 100 if task.quick else 1
    asked = {
        "POOLPILOT_SOAK_REQUESTS": requests // SERVING // share,
        "POOLPILOT_CHANGES": -(-changes // SERVING // share),
        "POOLPILOT_CLOSES": -(-closes // len(SOCKETS) // share),
        "POOLPILOT_SOAK_SEED": 1 + PARTS.index(task.scenario),
    }
    with tempfile.TemporaryDirectory() as temporary:
        told = Path(temporary) / "told.json"
        flags = (f"--gtest_filter=Handlers/Soak.{TESTS[kind]}/{place}", f"--gtest_output=json:{told}")
        command = [*_without_random_addresses(), f"{folder}/native_pool/native_tests", *flags]
        environment = {**os.environ, **{name: str(number) for name, number in asked.items()}}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        suites = json.loads(told.read_text())["testsuites"] if told.exists() else []
    if done.returncode != 0 or not suites:
        raise ServerError(f"{' '.join(command)} ended with {done.returncode}: {(done.stdout + done.stderr)[-6000:]}")
    (counted,) = suites[0]["testsuite"]
    return {name: int(value) for name, value in counted.items() if is_number(value)}


@cache
def _without_random_addresses() -> Sequence[str]:
    """ThreadSanitizer does not bear them on recent kernels."""
    plain = ("setarch", "-R")
    allowed = subprocess.run([*plain, "true"], capture_output=True, check=False).returncode == 0
    return plain if allowed else ()


def is_number(value: Any) -> bool:
    """Whether it is a whole number, as a text."""
    return isinstance(value, str) and value.removeprefix("-").isdigit()


def summarise(rows: Rows) -> dict[str, Any]:
    """The counts of every handler of each build, added up; growth is the largest."""
    return {"builds": {build: {"handlers": handlers_of(rows, build)} for build in by_arm(rows)}}


def handlers_of(rows: Rows, build: str) -> dict[str, dict[str, int]]:
    """The counts of one build by handler."""
    handlers: dict[str, dict[str, int]] = {}
    for handler in HANDLERS:
        counts = [row.found for row in rows if row.task.arm == build and f" {handler}O" in row.task.scenario]
        sums: Counter[str] = Counter()
        for one in counts:
            sums.update({name: number for name, number in one.items() if name != "growth_bytes"})
        if counts:
            handlers[handler] = {**sums, "most_growth_bytes": max(one["growth_bytes"] for one in counts)}
    return handlers


EXPERIMENTS = {
    "soak": Experiment(
        "Does a live pool lose a request to faults, in ten million, and under sanitizers? An hour, after `make soak`.",
        scenarios=PARTS,
        measure=measured,
        summarise=summarise,
        arms=tuple(BUILDS),
    )
}
