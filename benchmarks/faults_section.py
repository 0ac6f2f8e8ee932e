"""The part of docs/results-pool.md that tells what `benchmarks/soak.py` found."""

from collections.abc import Mapping
from typing import Any

HANDLERS = ("per_connection", "pool", "hybrid")
BUILDS = {"plain": "plain", "thread": "ThreadSanitizer", "address": "AddressSanitizer, UBSan"}
ENDINGS = ("completed", "failed", "refused", "cancelled")


def faults_section(builds: Mapping[str, Mapping[str, Any]]) -> str:
    """What became of every request by build, over all handlers: sent by the clients, ended by what the pools count."""
    lines = [f"| build | sent | {' | '.join(ENDINGS)} | sent less these | heap grown KiB |", "|---" * 8 + "|"]
    for name in (name for name in BUILDS if name in builds):
        counts = [builds[name]["handlers"][handler] for handler in HANDLERS]
        sent, *ended = (sum(one[key] for one in counts) for key in ("sent", *ENDINGS))
        grown = max(one["most_growth_bytes"] for one in counts) // 1024
        cells = [f"{number:,}" for number in (sent, *ended, sent - sum(ended), grown)]
        lines.append(f"| {BUILDS[name]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
