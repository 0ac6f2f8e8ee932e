"""What the pools of `native_pool`, live and simulated, hand over: their counts as a snapshot, their errors as ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import ServerKind, Snapshot


def snapshot_of(raw: dict[str, Any], server_kind: ServerKind) -> Snapshot:
    """Turns the raw counters of a pool of this kind into a snapshot."""
    return Snapshot(
        raw["time_s"],
        raw["tuple_epoch"],
        PoolTuple.from_dict(raw["pool_tuple"]),
        raw["counters"],
        raw["gauges"],
        {name: Histogram(*moments) for name, moments in raw["histograms"].items()},
        server_kind,
    )


INVOKED_WITH = "Invoked with: "
"""What pybind11 writes before the values that fit none of the types."""


def _given(error: str) -> str:
    """What was given, where the text says so; else its first line."""
    _, found, values = error.partition(INVOKED_WITH)
    return f"given was {values.strip()}" if found else error.splitlines()[0]


@contextmanager
def native_errors(failed: str, *failures: type[Exception]) -> Iterator[None]:
    """Turns what the native code raises into errors of our tree.

    Args:
        failed: What has failed, as a sentence begins.
        failures: What means that it has; a value of the wrong type or range is always a wrong setting.

    Raises:
        SettingError: A value is outside its range.
        ServerError: The pool cannot go on.
    """
    try:
        yield
    except ValueError as error:
        raise SettingError(str(error)) from error
    except TypeError as error:
        raise SettingError(f"a value is of the wrong type: {_given(str(error))}") from error
    except failures as error:
        raise ServerError(f"{failed}: {error}") from error
