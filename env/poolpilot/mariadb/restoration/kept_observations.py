"""What `poolpilot advise` saw of a server on the way to the tuple in force, kept beside the journals.

Observations under different tuples may disagree. Who knows what was seen under those before is not led in a circle.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from poolpilot.durability.durable_writes import write_durably
from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

KEPT_FOR_S = 86_400.0
"""Seconds after which an observation says nothing of the load of today."""

SAME_LOAD = 1.25
"""Factor of the connections up to which the load is the same."""

LARGEST_BYTES = 1 << 20


class KeptObservations:
    """The observations of one server.

    Args:
        folder: That of the journals.
        server: Which server it is.
    """

    def __init__(self, folder: Path, server: ServerIdentity) -> None:
        self.path = folder / f"advised-{server.name}.json"

    def on_the_way_to(self, latest: Window) -> list[Window]:
        """What was seen before under the tuples that advice has led away from, oldest first, and `latest`.

        Nothing but `latest` where no advice has led to what is in force, where another load or another day has come,
        and where the file cannot be read: then what was seen is not known, and an observation is the first.
        """
        try:
            with self.path.open("rb") as file:
                kept = json.loads(file.read(LARGEST_BYTES))
            seen = [Window.from_dict(each) for each in kept["windows"]]
            advised, age_s = PoolTuple.from_dict(kept["advised"]), time.time() - float(kept["at_unix_s"])
        except (OSError, ValueError, KeyError, TypeError, FeatureError, SettingError):
            return [latest]
        if not seen or not 0.0 <= age_s <= KEPT_FOR_S or not _of_one_load(seen[-1], latest):
            return [latest]
        if seen[-1].pool_tuple.core == latest.pool_tuple.core:
            return [*seen[:-1], latest]
        return [*seen, latest] if advised.core == latest.pool_tuple.core else [latest]

    def keep(self, windows: Sequence[Window], advised: PoolTuple) -> OSError | None:
        """Keeps what was seen and what was advised after it; the error where that cannot be done."""
        kept = {
            "at_unix_s": time.time(),
            "windows": [each.as_dict() for each in windows],
            "advised": advised.as_dict(),
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_durably(self.path, json.dumps(kept).encode())
        except OSError as error:
            return error
        return None


def _of_one_load(before: Window, after: Window) -> bool:
    """Whether two windows have about as many connections."""
    counts = [each.profile.features.get("connections") or 1.0 for each in (before, after)]
    return max(counts) <= SAME_LOAD * min(counts)
