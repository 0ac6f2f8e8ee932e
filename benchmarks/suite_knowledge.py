"""What the methods of the MariaDB suite knew when a row was measured, as far as the row tells."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from harness.code_digest import SHOWN
from poolpilot.models.champion import load_for
from poolpilot.models.latent.shipped_curves import load_curves

Row = Mapping[str, Any]
"""A finished workload in a file of runs."""


def known_by() -> dict[str, str]:
    """Digests of curves and champion: written with each row, but no ground to measure anew what took days."""
    return {"curves": load_curves().digest[:SHOWN], "champion": load_for("mariadb").digest[:SHOWN]}


def knowledge_of(rows: Iterable[Row]) -> dict[str, Any]:
    """How many workloads were measured by which digests; rows from before these were written do not tell."""
    latest = {row["workload"]: row.get("known_by") for row in rows}
    told = Counter(f"curves {one['curves']}, champion {one['champion']}" for one in latest.values() if one is not None)
    return {"digests": dict(told), "untold": len(latest) - told.total()}
