"""The data card of a store: what was measured, where and how, what is wrong with it, what it must not be used for."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.measurement.settling import interval_s
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.store.dataset import pool_timer, read_dataset
from poolpilot.pipelines.store.leak_faults import composition_of
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.store.store_contents import ALL_SPLITS

Row = Mapping[str, Any]

CARD_FILE = "CARD.md"

FEW = 2
"""So many compositions of a family are named; of more, which are drawn at random, their number."""

MARIADB_TIMER = "MariaDB's own"

LICENCE = "Licence: that of the repository the records come with."


def write_data_card(directory: Path, made_with: Mapping[str, str]) -> Path:
    """Writes the card of a store beside its segments; figures come from the records alone.

    Args:
        directory: Folder of the store.
        made_with: Versions of what the records cannot tell, by program.

    Raises:
        StoreError: The store holds no complete workload.
    """
    path = directory / CARD_FILE
    path.write_text("\n".join(_lines(directory, made_with)) + "\n", encoding="utf-8")
    return path


def _lines(directory: Path, made_with: Mapping[str, str]) -> list[str]:
    dataset = read_dataset(directory, "train", "validation", "test")
    rows, definitions = StagingStore(directory).window_rows(), StagingStore(directory).workload_rows()
    servers = sorted({str(row["server"]) for row in rows})
    return [
        "# Data card",
        "",
        "Written by `poolpilot learn collect`; do not edit. `docs/data.md` and `docs/records.md` explain the columns.",
        "",
        f"* Server: {', '.join(servers)}; machine: {', '.join(sorted({str(row['machine']) for row in rows}))}.",
        *(f"* {name}: {version}." for name, version in made_with.items()),
        *_contents(dataset.sweeps, rows),
        f"* Digest of the sweeps: `{dataset.digest[:16]}`.",
        *([f"* Not complete and left out: {', '.join(dataset.unfinished)}."] if dataset.unfinished else []),
        f"* {LICENCE}",
        f"* More of them: `poolpilot learn collect --server {servers[0]} --store FOLDER`, with a new folder.",
        "",
        "Configurations of the grid are raced in random order (successive halving). The finalists are repeated, the "
        "best is measured again. Windows of uniformly drawn configurations carry their propensity. Families are held "
        "out, not workloads: `poolpilot evaluate` alone reads `test`.",
        "",
        "## Known faults",
        "",
        *_known_faults(directory, rows),
        "",
        "## Families",
        "",
        "Noise is the difference between windows of one configuration, the median of the family.",
        "",
        *_family_tables(dataset.sweeps, definitions),
        "Not for comparing servers or machines: absolute figures belong to this one.",
    ]


def _contents(sweeps: Sequence[WorkloadSweep], rows: Sequence[Row]) -> list[str]:
    kinds = Counter(str(row["kind"]) for row in rows)
    steal = [row["steal_share"] for row in rows if row["steal_share"] is not None]
    seconds, settled = ([row[name] for row in rows if row["kind"] == "sweep"] for name in ("duration_s", "settle_s"))
    return [
        f"* {len(sweeps)} workloads of {len({sweep.family for sweep in sweeps})} families, {len(rows)} windows "
        f"({', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}): {_of_splits(sweeps)}.",
        f"* Windows of a sweep: {min(seconds):.2f} to {max(seconds):.2f} s, after {min(settled):.2f} to "
        f"{max(settled):.2f} s of settling.",
        f"* Timer of the pool: {', '.join(sorted({pool_timer(row) or MARIADB_TIMER for row in rows}))}.",
        f"* Processor time taken by the hypervisor: {100 * float(np.mean(steal)) if steal else 0.0:.1f} % on average.",
    ]


def _known_faults(directory: Path, rows: Sequence[Row]) -> list[str]:
    """What `poolpilot records --check` finds, and windows that are too short to show what a timer does."""
    faults = RecordCheck.of([CheckedStore(directory)]).faults
    found = [fault.sentence.replace(f"{directory}/", "").replace(str(directory), "this store") for fault in faults]
    swept = [row for row in rows if row["kind"] == "sweep"]
    short = sum(row["duration_s"] < 2 * interval_s(_tuple_of(row)) for row in swept)
    if short:
        found.append(
            f"{short} of {len(swept)} windows of sweeps are shorter than two ticks of their timer: what a stalled "
            "group does may be missing in them"
        )
    return [f"* {sentence}." for sentence in found] or ["None known."]


def _tuple_of(row: Row) -> PoolTuple:
    return PoolTuple(row["pool_size"], row["oversubscribe"], row["timer_interval_ms"])


def _family_tables(sweeps: Sequence[WorkloadSweep], definitions: Mapping[str, Row]) -> Iterator[str]:
    """A table for each split."""
    for split in ALL_SPLITS:
        by_family: dict[str, list[WorkloadSweep]] = defaultdict(list)
        for sweep in sweeps:
            if sweep.split == split:
                by_family[sweep.family].append(sweep)
        if by_family:
            yield from (f"| {split} | composition | noise, % |", "|---|---|---|")
            yield from (_family_row(family, each, definitions) for family, each in sorted(by_family.items()))
            yield ""


def _family_row(family: str, sweeps: Sequence[WorkloadSweep], definitions: Mapping[str, Row]) -> str:
    composed = sorted({composition_of(definitions[sweep.workload_id]) for sweep in sweeps})
    shown = ", ".join(f"`{text}`" for text in composed) if len(composed) <= FEW else f"{len(composed)} different"
    noise = float(np.median([sweep.noise for sweep in sweeps]))
    return f"| {family} | {shown.replace('|', chr(92) + '|')} | {100 * noise:.1f} |"


def _of_splits(sweeps: Sequence[WorkloadSweep]) -> str:
    """Families and workloads of each split."""
    splits = {split: [each for each in sweeps if each.split == split] for split in ALL_SPLITS}
    told = [
        f"{len(each)} {split} of {len({one.family for one in each})} families" for split, each in splits.items() if each
    ]
    return "; ".join(told)
