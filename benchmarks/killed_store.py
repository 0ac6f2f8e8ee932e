"""Whether a recorded row that was acknowledged is ever lost: writers of the store are killed with SIGKILL.

How to run: `python benchmarks/killed_store.py [--kills 100] [--seed 1] [--json PATH]` (a minute or two; needs the extra
`train`). Each writer appends rows of the shipped records, a segment of some rows at a time, and says so when it has one
on the disk; it is killed after so many segments and so many microseconds as are drawn. Then DuckDB's views over the
store are made in a file, thrown away and made again. Results to expect: no row lost, none there twice, no segment torn,
and every view made again the same.
"""

import argparse
import hashlib
import json
import multiprocessing
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from poolpilot.env.output import write_json
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.store.views import connect

SHIPPED = Path("pipelines/records")
ROWS_A_SEGMENT = 20
MOST_SEGMENTS = 12
"""Of one writer before it is killed."""

LONGEST_WAIT_S = 0.006
"""From the last of them to the kill: about as long as a segment takes."""

ANSWERS_WITHIN_S = 120.0
VIEWS = ("records", "workloads", "features", "outcomes")

Rows = Sequence[dict[str, Any]]


def dump(path: Path) -> None:
    """Writes shipped rows as JSON: who forks must not have used Arrow, whose threads a fork loses."""
    rows = StagingStore(SHIPPED).window_rows()[: 50 * ROWS_A_SEGMENT]
    path.write_text(json.dumps(rows))


def append_for_ever(folder: Path, writer: int, rows: Rows, told: Connection) -> None:
    """Appends segments, each with a workload of its own, and tells its name once it is on the disk."""
    store = StagingStore(folder).windows
    for number, first in enumerate(cycle(range(0, len(rows) - ROWS_A_SEGMENT + 1, ROWS_A_SEGMENT))):
        name = f"writer-{writer}-{number}"
        store.append([{**row, "workload_id": name} for row in rows[first : first + ROWS_A_SEGMENT]], f"run-{writer}")
        told.send(name)


def killed_once(folder: Path, writer: int, rows: Rows, moments: random.Random) -> list[str]:
    """Starts a writer and kills it at a moment that is drawn; the segments that it has acknowledged."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=append_for_ever, args=(folder, writer, rows, there))
    process.start()
    there.close()
    told = [_next(here) for _ in range(moments.randrange(MOST_SEGMENTS))]
    time.sleep(moments.uniform(0.0, LONGEST_WAIT_S))
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    return [*told, *_left_in(here)]


def _next(told: Connection) -> str:
    if not told.poll(ANSWERS_WITHIN_S):
        raise SystemExit(f"a writer has written nothing within {ANSWERS_WITHIN_S:g} s")
    return str(told.recv())


def _left_in(told: Connection) -> Iterator[str]:
    """What was said before the end; a message that the kill has cut off was not."""
    while told.poll():
        try:
            yield str(told.recv())
        except (EOFError, OSError):
            return


def views_digest(store: StagingStore, database: Path) -> str:
    """SHA-256 of everything that the views show, made in a file."""
    digest = hashlib.sha256()
    with connect(store, database) as connection:
        for view in VIEWS:
            for row in sorted(map(repr, connection.sql(f"SELECT * FROM {view}").fetchall())):
                digest.update(row.encode())
    return digest.hexdigest()


def found_in(folder: Path, acknowledged: Sequence[str], temporary: Path) -> dict[str, Any]:
    """What is in the store when all writers are dead."""
    store = StagingStore(folder)
    rows = store.window_rows()
    counts = {name: 0 for name in acknowledged}
    others = 0
    for row in rows:
        if row["workload_id"] in counts:
            counts[row["workload_id"]] += 1
        else:
            others += 1
    before = views_digest(store, temporary / "before.duckdb")
    return {
        "segments": len(store.windows.segments),
        "acknowledged": len(acknowledged),
        "lost": sum(count < ROWS_A_SEGMENT for count in counts.values()),
        "there_twice": sum(count > ROWS_A_SEGMENT for count in counts.values()),
        "whole_and_never_acknowledged": others // ROWS_A_SEGMENT,
        "rows_of_no_whole_segment": others % ROWS_A_SEGMENT,
        "torn": len(store.torn),
        "unfinished_files": len(list((folder / "windows").glob(".*"))),
        "views_made_again_are_the_same": views_digest(store, temporary / "again.duckdb") == before,
    }


def main() -> None:
    """Kills, counts, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.dump is not None:
        dump(given.dump)
        return
    moments = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        subprocess.run([sys.executable, __file__, "--dump", temporary / "rows.json"], check=True)
        rows = json.loads((temporary / "rows.json").read_text())
        folder, acknowledged = temporary / "store", list[str]()
        for writer in range(given.kills):
            acknowledged += killed_once(folder, writer, rows, moments)
        report = {"kills": given.kills, **found_in(folder, acknowledged, temporary)}
    print(json.dumps(report, indent=1))
    write_json(given.json, report)


if __name__ == "__main__":
    main()
