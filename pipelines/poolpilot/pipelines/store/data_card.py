"""The data card of a store: what was measured, where and how, what is wrong with it, what it must not be used for."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.measurement.settling import interval_s
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import regret
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.store.dataset import pool_timer, read_dataset
from poolpilot.pipelines.store.leak_faults import composition_of
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.store.records import StagingStore

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
        "Written by `poolpilot collect`; do not edit. What the columns mean, how to open them and what else there is: "
        "`docs/data.md`.",
        "",
        f"* Server: {', '.join(servers)}; machine: {', '.join(sorted({str(row['machine']) for row in rows}))}.",
        *(f"* {name}: {version}." for name, version in made_with.items()),
        *_contents(dataset.sweeps, rows),
        f"* Digest of the sweeps: `{dataset.digest[:16]}`.",
        *([f"* Not complete and left out: {', '.join(dataset.unfinished)}."] if dataset.unfinished else []),
        f"* {LICENCE}",
        f"* More of them: `poolpilot collect --server {servers[0]} --store FOLDER`, with a new folder.",
        "",
        "Tuples are raced over the grid in random, interleaved order (successive halving), the finalists repeated, "
        "the best measured again; windows of uniformly drawn tuples carry their propensity. Families, not workloads, "
        "are held out: `test` is read by `poolpilot evaluate` alone.",
        "",
        "## Known faults",
        "",
        *_known_faults(directory, rows),
        "",
        "## Families",
        "",
        "| family | split | composition | workloads | best tuples | default loses (median) | noise of a window |",
        "|---|---|---|---|---|---|---|",
        *_family_rows(dataset.sweeps, definitions),
        "",
        "Not for comparing servers or machines: absolute figures belong to this one. Losses are against the best of "
        "many noisy values as measured again, so they are within the noise of the truth.",
    ]


def _contents(sweeps: Sequence[WorkloadSweep], rows: Sequence[Row]) -> list[str]:
    kinds = Counter(str(row["kind"]) for row in rows)
    steal = [row["steal_share"] for row in rows if row["steal_share"] is not None]
    seconds, settled = ([row[name] for row in rows if row["kind"] == "sweep"] for name in ("duration_s", "settle_s"))
    return [
        f"* {len(sweeps)} workloads of {len({sweep.family for sweep in sweeps})} families, {len(rows)} windows "
        f"({', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}).",
        f"* Windows of a sweep: {min(seconds):.2f} to {max(seconds):.2f} s, after {min(settled):.2f} to "
        f"{max(settled):.2f} s of settling.",
        f"* Timer of the pool: {', '.join(sorted({pool_timer(row) or MARIADB_TIMER for row in rows}))}.",
        f"* Processor time taken by the hypervisor: {100 * float(np.mean(steal)) if steal else 0.0:.1f} % on average.",
    ]


def _known_faults(directory: Path, rows: Sequence[Row]) -> list[str]:
    """What `poolpilot records check` finds, and windows that are too short to show what a timer does."""
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


def _family_rows(sweeps: Sequence[WorkloadSweep], definitions: Mapping[str, Row]) -> list[str]:
    by_family: dict[str, list[WorkloadSweep]] = defaultdict(list)
    for sweep in sweeps:
        by_family[sweep.family].append(sweep)
    lines = []
    for family, each in sorted(by_family.items(), key=lambda one: (one[1][0].split, one[0])):
        composed = sorted({composition_of(definitions[sweep.workload_id]) for sweep in each})
        shown = ", ".join(f"`{text}`" for text in composed) if len(composed) <= FEW else f"{len(composed)} different"
        lost = float(np.median([_lost_by_default(sweep) for sweep in each]))
        noise = float(np.median([sweep.noise for sweep in each]))
        best = ", ".join(str(sweep.oracle_tuple) for sweep in each)
        about = f"{family} | {each[0].split} | {shown.replace('|', chr(92) + '|')} | {len(each)} | {best}"
        lines.append(f"| {about} | {100 * lost:.1f} % | {100 * noise:.1f} % |")
    return lines


def _lost_by_default(sweep: WorkloadSweep) -> float:
    value = sweep.value(sweep.limits.default_tuple())
    again = sweep.oracle_value if sweep.oracle_again is None else sweep.oracle_again
    return regret(value, again)
