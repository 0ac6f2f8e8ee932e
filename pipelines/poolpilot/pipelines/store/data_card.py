"""The data card of a store: what was measured, where and how, and what it must not be used for."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import regret
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.records import StagingStore

CARD_FILE = "CARD.md"


def write_data_card(directory: Path, made_with: Mapping[str, str]) -> Path:
    """Writes the card of a store beside its segments; figures come from the records alone.

    Args:
        directory: Folder of the store.
        made_with: Versions of what the records cannot tell, by program.

    Raises:
        StoreError: The store holds no complete workload.
    """
    dataset = read_dataset(directory, "train", "validation", "test")
    rows = StagingStore(directory).window_rows()
    path = directory / CARD_FILE
    path.write_text("\n".join(_lines(dataset.sweeps, rows, dataset.digest, dataset.unfinished, made_with)) + "\n")
    return path


def _lines(
    sweeps: Sequence[WorkloadSweep],
    rows: Sequence[Mapping[str, Any]],
    digest: str,
    unfinished: Sequence[str],
    made_with: Mapping[str, str],
) -> list[str]:
    kinds = Counter(str(row["kind"]) for row in rows)
    machines, servers = ({str(row[name]) for row in rows} for name in ("machine", "server"))
    steal = [row["steal_share"] for row in rows if row["steal_share"] is not None]
    return [
        "# Data card",
        "",
        "Written by `poolpilot collect`; do not edit.",
        "",
        f"* Server: {', '.join(sorted(servers))}; machine: {', '.join(sorted(machines))}.",
        *(f"* {name}: {version}." for name, version in made_with.items()),
        f"* {len(sweeps)} workloads of {len({sweep.family for sweep in sweeps})} families, {len(rows)} windows "
        f"({', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}).",
        f"* Timer of the pool: {', '.join(sorted({str(row['timer']) for row in rows}))}.",
        f"* Digest of the sweeps: `{digest[:16]}`.",
        f"* Processor time taken by the hypervisor: {100 * float(np.mean(steal)) if steal else 0.0:.1f} % on average.",
        *([f"* Not complete and left out: {', '.join(unfinished)}."] if unfinished else []),
        "",
        "Tuples are raced over the grid in random, interleaved order (successive halving), the finalists repeated, "
        "the best measured again; windows of uniformly drawn tuples carry their propensity. Families, not workloads, "
        "are held out: `test` is read by `poolpilot evaluate` alone.",
        "",
        "| family | split | workloads | best tuples | default loses (median) | noise of a window |",
        "|---|---|---|---|---|---|",
        *_family_rows(sweeps),
        "",
        "Not for comparing servers or machines: absolute figures belong to this one. Losses are against the best of "
        "many noisy values as measured again, so they are within the noise of the truth.",
    ]


def _family_rows(sweeps: Sequence[WorkloadSweep]) -> list[str]:
    by_family: dict[str, list[WorkloadSweep]] = defaultdict(list)
    for sweep in sweeps:
        by_family[sweep.family].append(sweep)
    lines = []
    for family, each in sorted(by_family.items(), key=lambda one: (one[1][0].split, one[0])):
        lost = float(np.median([_lost_by_default(sweep) for sweep in each]))
        noise = float(np.median([sweep.noise for sweep in each]))
        best = ", ".join(str(sweep.oracle_tuple) for sweep in each)
        lines.append(
            f"| {family} | {each[0].split} | {len(each)} | {best} | {100 * lost:.1f} % | {100 * noise:.1f} % |"
        )
    return lines


def _lost_by_default(sweep: WorkloadSweep) -> float:
    value = sweep.value(sweep.limits.default_tuple())
    again = sweep.oracle_value if sweep.oracle_again is None else sweep.oracle_again
    return regret(value, again)
