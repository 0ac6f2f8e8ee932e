"""What the picture of README.md says, in numbers."""

from statistics import median
from typing import Any

from page_tables.part import Part

ARMS = {"default": "never touched", "poolpilot": "PoolPilot"}
PLANTED_S = 40.0
"""From here on a bad configuration is planted."""

TOLD_S = slice(25, int(PLANTED_S))
"""Windows whose medians are told: the tuner has come to rest, and nothing is planted yet."""


def figures(report: dict[str, Any]) -> str:
    """What the picture says, in numbers."""
    per_s, p99_ms = ([median(report[arm][name][TOLD_S]) for arm in ARMS] for name in ("per_s", "p99_ms"))
    return (
        f"| seconds {TOLD_S.start} to {TOLD_S.stop}, medians | short requests a second | their p99 |\n|---|---|---|\n"
        f"| never touched | {per_s[0]:,.0f} | {p99_ms[0]:.0f} ms |\n"
        f"| PoolPilot | {per_s[1]:,.0f} | {p99_ms[1]:.0f} ms |\n"
    )


PARTS = (Part("README.md", "picture", ("mariadb_picture",), figures),)
