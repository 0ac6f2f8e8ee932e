"""Live pools under load, dying clients and a system that refuses, as long as asked for: no request may vanish.

How to run: `python benchmarks/soak.py [--program build/tests/native_pool/native_tests] [--build plain]
[--requests 10000000] [--changes 100000] [--closes 1000] [--json benchmarks/reports/soak.json]` after the C++ tests were
built (`make test`; `make sanitize` for `--build thread` and `address`, whose parts of the file are kept beside one
another). Each handler takes its share over TCP and over a Unix socket, first in one pool that goes on serving, then in
fresh pools that are closed under load, `--closes` for each handler. Results to expect: for every handler sent =
completed + failed + refused + cancelled, counted by the clients and by the pool, and nothing left open; the program of
the tests fails otherwise, and so does this one. Ctrl-C keeps the parts that are done; run again to go on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.progress import Progress

from poolpilot.env.interrupts import Interrupts
from poolpilot.env.output import write_json
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs

HANDLERS = ("per_connection", "pool", "hybrid")
SOCKETS = ("OverTcp", "OnAUnixSocket")
TESTS = {"serves": "LosesNoRequestToFaultsWhileItServes", "closes": "ClosesUnderLoadWithEveryRequestAccountedFor"}
INTERRUPTED = 130


class SoakError(Exception):
    """A part found something lost or left."""


@dataclass(frozen=True, slots=True)
class Part:
    """One test of the program, in a process of its own.

    Attributes:
        build: Name of the build, such as `thread`.
        kind: Whether one pool serves on, or many are closed.
        handler: Connection handler.
        socket: Kind of the address, as the test is named.
        requests: Requests to send, of a pool that serves on.
        changes: Changes of knobs, likewise.
        closes: Pools to close.
    """

    build: str
    kind: Literal["serves", "closes"]
    handler: str
    socket: str
    requests: int
    changes: int
    closes: int

    @property
    def test(self) -> str:
        """The filter that names it."""
        return f"Handlers/Soak.{TESTS[self.kind]}/{self.handler}{self.socket}"

    def run(self, program: Path, seed: int) -> dict[str, int]:
        """Runs it and returns what it has counted.

        Raises:
            SoakError: The test has failed, or there is none.
        """
        asked = {
            "POOLPILOT_SOAK_REQUESTS": self.requests,
            "POOLPILOT_CHANGES": self.changes,
            "POOLPILOT_CLOSES": self.closes,
            "POOLPILOT_SOAK_SEED": seed,
        }
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "told.json"
            command = [str(program), f"--gtest_filter={self.test}", f"--gtest_output=json:{told}"]
            environment = {**os.environ, **{name: str(number) for name, number in asked.items()}}
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            suites = json.loads(told.read_text())["testsuites"] if told.exists() else []
        if done.returncode != 0 or not suites:
            raise SoakError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-6000:]}")
        (test,) = suites[0]["testsuite"]
        return {name: int(value) for name, value in test.items() if isinstance(value, str) and is_number(value)}


def is_number(text: str) -> bool:
    """Whether it is a whole number."""
    return text.removeprefix("-").isdigit()


def parts_of(build: str, requests: int, changes: int, closes: int) -> list[Part]:
    """What there is to do."""
    pools = len(HANDLERS) * len(SOCKETS)
    serving = [
        Part(build, "serves", handler, socket, requests // pools, -(-changes // pools), 0)
        for handler in HANDLERS
        for socket in SOCKETS
    ]
    return serving + [
        Part(build, "closes", handler, socket, 0, 0, -(-closes // len(SOCKETS)))
        for handler in HANDLERS
        for socket in SOCKETS
    ]


def read(kept: Path) -> list[tuple[Part, dict[str, int]]]:
    """The parts that were done before."""
    return [(Part(**row["part"]), row["counts"]) for row in read_runs(kept)]


def summary(done: list[tuple[Part, dict[str, int]]]) -> dict[str, Any]:
    """The counts of every handler of one build, added up; growth is the largest."""
    handlers: dict[str, dict[str, int]] = {}
    for handler in HANDLERS:
        counts = [one for part, one in done if part.handler == handler]
        sums: Counter[str] = Counter()
        for one in counts:
            sums.update({name: number for name, number in one.items() if name != "growth_bytes"})
        handlers[handler] = {**sums, "most_growth_bytes": max(one["growth_bytes"] for one in counts)}
        ended = sum(sums[name] for name in ("completed", "failed", "refused", "cancelled"))
        if sums["sent"] != ended:
            raise SoakError(f"{handler}: {sums['sent']} requests sent, {ended} accounted for")
    return {"handlers": handlers}


def soak(arguments: argparse.Namespace) -> dict[str, Any]:
    """Does the parts that are left and adds all up."""
    parts = parts_of(arguments.build, arguments.requests, arguments.changes, arguments.closes)
    done = [(part, counts) for part, counts in read(arguments.runs) if part in parts]
    with Progress(transient=True) as progress, opened_for_more(arguments.runs) as out:
        bar = progress.add_task(arguments.build, total=len(parts), completed=len(done))
        for seed, part in enumerate(parts, arguments.seed):
            if any(one == part for one, _ in done):
                continue
            progress.update(bar, description=part.test.partition("/")[2])
            counts = part.run(arguments.program, seed)
            keep_run({"part": asdict(part), "counts": counts}, out)
            done.append((part, counts))
            progress.advance(bar)
    return summary(done)


def main() -> int:
    """Returns 1 when anything was lost or left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, default=Path("build/tests/native_pool/native_tests"))
    parser.add_argument("--build", default="plain")
    parser.add_argument("--requests", type=int, default=10_000_000)
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--closes", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=Path("build/bench/soak.jsonl"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    try:
        with Interrupts(patient=False):
            found = soak(arguments)
    except SoakError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    for handler, counts in found["handlers"].items():
        print(
            handler, *(f"{name} {counts[name]:,}" for name in ("sent", "completed", "failed", "refused", "cancelled"))
        )
    if arguments.json:
        kept = json.loads(arguments.json.read_text()) if arguments.json.exists() else {"builds": {}}
        kept["builds"][arguments.build] = found
        write_json(arguments.json, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
