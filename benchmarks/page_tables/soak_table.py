"""What became of every request of a long run under faults, in docs/results-pool.md."""

from collections.abc import Mapping
from typing import Any

from page_tables.part import Part

HANDLERS = ("per_connection", "pool", "hybrid")
BUILDS = {"plain": "plain", "thread": "ThreadSanitizer", "address": "AddressSanitizer, UBSan"}
ENDINGS = ("completed", "failed", "refused", "cancelled")


def soak_table(report: Mapping[str, Any]) -> str:
    """What became of every request by build, over all handlers: sent by the clients, ended by what the pools count."""
    builds = report["builds"]
    lines = [f"| build | sent | {' | '.join(ENDINGS)} | sent less these | heap grown KiB |", "|---" * 8 + "|"]
    for name in (name for name in BUILDS if name in builds):
        counts = [builds[name]["handlers"][handler] for handler in HANDLERS]
        sent, *ended = (sum(one[key] for one in counts) for key in ("sent", *ENDINGS))
        grown = max(one["most_growth_bytes"] for one in counts) // 1024
        cells = [f"{number:,}" for number in (sent, *ended, sent - sum(ended), grown)]
        lines.append(f"| {BUILDS[name]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


PARTS = (Part("docs/results-pool.md", "faults", ("soak",), soak_table),)
