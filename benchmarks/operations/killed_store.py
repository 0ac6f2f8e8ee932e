"""Whether a recorded row that was acknowledged is ever lost: writers of the store are killed with SIGKILL.

Each writer appends rows of the shipped records, a segment of some rows at a time, and says so when it has one on the
disk; it is killed after so many segments and so many microseconds as are drawn. Then DuckDB's views over the store are
made in a file, thrown away and made again.
"""

import hashlib
import json
import multiprocessing
import random
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

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


def rows_lost(kills: int, seed: int) -> dict[str, Any]:
    """Kills so many writers and counts what was acknowledged and what is there.

    In a process of its own, in which nobody has used Arrow.
    """
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        reader = processes.Process(target=dump, args=(Path(name) / "rows.json",))
        reader.start()
        reader.join()
        with ProcessPoolExecutor(1, mp_context=processes) as alone:
            return alone.submit(_rows_lost, kills, seed, Path(name)).result()


def _rows_lost(kills: int, seed: int, temporary: Path) -> dict[str, Any]:
    rows, moments = json.loads((temporary / "rows.json").read_text()), random.Random(seed)
    folder, acknowledged = temporary / "store", list[str]()
    for writer in range(kills):
        acknowledged += killed_once(folder, writer, rows, moments)
    return {"kills": kills, **found_in(folder, acknowledged, temporary)}
