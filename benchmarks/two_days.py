"""Whether two measurements of the MariaDB suite agree: the same tuples against the default, on two days.

    python benchmarks/two_days.py benchmarks/reports/mariadb_suite_runs.jsonl again.jsonl --json two_days.json

Every tuple that both files have compared with the default on the same workload is one line: its gain in ln J in each,
the standard errors over rounds, and the difference in units of both errors together. Rounds are taken on one server, so
the errors do not hold what differs from one start of it to the next.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from poolpilot.env.measurement.sweep import Core
from poolpilot.env.output import write_json
from poolpilot.errors import PoolPilotError, StoreError
from poolpilot.pipelines.evaluate.suite.suite_run import CellResult
from poolpilot.pipelines.kept_runs import read_runs

AGREES = 2.0
"""Standard errors within which two gains are the same."""


class Gain(NamedTuple):
    """A mean gain in ln J over rounds, and its standard error."""

    mean: float
    error: float


class Pair(NamedTuple):
    """The gain of one tuple on one workload, on both days."""

    workload: str
    core: Core
    first: Gain
    second: Gain

    @property
    def apart(self) -> float:
        """Difference of the gains in standard errors."""
        return (self.second.mean - self.first.mean) / math.hypot(self.first.error, self.second.error)


def main() -> None:
    """Compares two files and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, help="runs of one day")
    parser.add_argument("second", type=Path, help="runs of another")
    parser.add_argument("--json", type=Path, help="where the report goes")
    given = parser.parse_args()
    pairs = list(compared(gains_of(given.first), gains_of(given.second)))
    if not pairs:
        raise StoreError(f"{given.first} and {given.second} have no tuple of the same workload in common")
    Console().print(table_of(pairs))
    agreeing = sum(abs(pair.apart) <= AGREES for pair in pairs)
    Console().print(f"{agreeing} of {len(pairs)} agree within {AGREES:g} standard errors.")
    write_json(given.json, {"agree": agreeing, "of": len(pairs), "pairs": [as_row(pair) for pair in pairs]})


def gains_of(path: Path) -> dict[tuple[str, Core], Gain]:
    """Gain over the default of every other tuple that a file has compared with it, by workload."""
    found: dict[tuple[str, Core], Gain] = {}
    for row in read_runs(path):
        result = CellResult.from_dict(row["result"])
        default = result.values["default"]
        for method, values in result.values.items():
            core = result.chosen[method]
            if core == result.default or len(values) < 2:
                continue
            gains = [value - stays for value, stays in zip(values, default, strict=True)]
            found[result.workload, core] = Gain(fmean(gains), stdev(gains) / math.sqrt(len(gains)))
    return found


def compared(first: dict[tuple[str, Core], Gain], second: dict[tuple[str, Core], Gain]) -> Iterator[Pair]:
    """What both have."""
    for workload, core in sorted(first.keys() & second.keys()):
        yield Pair(workload, core, first[workload, core], second[workload, core])


def table_of(pairs: list[Pair]) -> Table:
    """The pairs as people read them."""
    table = Table("workload", "tuple", "gain, first", "gain, second", "apart, in errors", title="On two days")
    for pair in pairs:
        table.add_row(pair.workload, str(pair.core), shown(pair.first), shown(pair.second), f"{pair.apart:+.1f}")
    return table


def shown(gain: Gain) -> str:
    """A gain in ln J with its error."""
    return f"{gain.mean:+.3f} ± {gain.error:.3f}"


def as_row(pair: Pair) -> dict[str, Any]:
    """A pair, fit for JSON."""
    return {**pair._asdict(), "first": pair.first._asdict(), "second": pair.second._asdict(), "apart": pair.apart}


if __name__ == "__main__":
    try:
        main()
    except PoolPilotError as error:
        raise SystemExit(str(error)) from error
