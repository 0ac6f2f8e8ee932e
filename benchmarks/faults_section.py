"""The part of docs/pool.md that tells what `benchmarks/soak.py` found."""

from collections.abc import Mapping
from typing import Any

Row = tuple[str, str, Mapping[str, int]]
HANDLERS = ("per_connection", "pool", "hybrid")
BUILDS = {"plain": "plain", "thread": "ThreadSanitizer", "address": "AddressSanitizer, UBSan"}
ENDINGS = ("completed", "failed", "refused", "cancelled")
FAULTS = {
    "killed": "clients killed",
    "torn": "ended within a frame",
    "malformed": "sent nonsense",
    "half_open": "half-open",
    "vanished": "vanished",
    "in_transaction": "silent with a latch",
    "slow_reader": "never read",
}


def faults_section(builds: Mapping[str, Mapping[str, Any]]) -> str:
    """What became of every request, by build and handler, and what was done to them."""
    rows = [
        (name, handler, builds[name]["handlers"][handler]) for name in BUILDS if name in builds for handler in HANDLERS
    ]
    return "\n".join([*requests_table(rows), "", *faults_table(rows)]) + "\n"


def requests_table(rows: list[Row]) -> list[str]:
    """Sent by the clients beside what the pools say became of them."""
    lines = [
        f"| build | handler | sent | {' | '.join(ENDINGS)} | sent less these | knobs set | closes | heap grown KiB |",
        "|---" * 10 + "|",
    ]
    for build, handler, counts in rows:
        left = counts["sent"] - sum(counts[name] for name in ENDINGS)
        numbers = [counts["sent"], *(counts[name] for name in ENDINGS), left, counts["changes"], counts["closes"]]
        cells = [f"{number:,}" for number in [*numbers, counts["most_growth_bytes"] // 1024]]
        lines.append(f"| {BUILDS[build]} | {handler} | {' | '.join(cells)} |")
    total = sum(counts["sent"] for build, _, counts in rows if build == "plain")
    return [*lines, "", f"In all {total:,} requests on the plain build."]


def faults_table(rows: list[Row]) -> list[str]:
    """What clients and the system did meanwhile."""
    lines = [
        f"| build | handler | {' | '.join(FAULTS.values())} | calls refused | times without a descriptor |",
        "|---" * (4 + len(FAULTS)) + "|",
    ]
    for build, handler, counts in rows:
        numbers = [
            *(counts[f"clients_{name}"] for name in FAULTS),
            counts["refused_calls"],
            counts["descriptor_shortages"],
        ]
        lines.append(f"| {BUILDS[build]} | {handler} | {' | '.join(f'{number:,}' for number in numbers)} |")
    return lines
