"""Which knobs `poolpilot climb` climbs: the pool size alone unless the user names others."""

from collections.abc import Iterable
from enum import StrEnum

from poolpilot.env.climbing.knob_climb import SIZE_ALONE, climb_limits
from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.env.server import Tunable
from poolpilot.errors import SettingError
from poolpilot.mariadb.server.mariadb_server import knobs_to_try


class KnobName(StrEnum):
    """A knob that can be climbed, or all of them."""

    POOL_SIZE = "pool_size"
    OVERSUBSCRIBE = "oversubscribe"
    TIMER_INTERVAL_MS = "timer_interval_ms"
    ALL = "all"


def chosen_knobs(named: Iterable[KnobName]) -> tuple[str, ...]:
    """The knobs named, each once and the pool size first, whose wave is the shortest; the size where none is named."""
    wanted = set(named)
    if KnobName.ALL in wanted:
        return CORE_KNOBS
    return tuple(name for name in CORE_KNOBS if name in wanted) or SIZE_ALONE


def check_curve(knobs: tuple[str, ...]) -> None:
    """Refuses every knob that a curve does not have.

    Raises:
        SettingError: There is another knob than the pool size.
    """
    if knobs != SIZE_ALONE:
        asked = ", ".join(name for name in knobs if name not in SIZE_ALONE)
        raise SettingError(
            f"a curve has no knob but pool_size and cannot climb {asked}: leave out --knob, "
            "or climb with --backend simulated or --backend native"
        )


def ranges_text(knobs: tuple[str, ...], server: Tunable) -> str:
    """The knobs with the values that a climb may try, such as "pool_size 1..128, oversubscribe 1..32".

    Raises:
        SettingError: A knob cannot be climbed on this server, or not from the value in force.
    """
    limits = climb_limits(knobs, knobs_to_try(server), server.tuple_in_force(), {})
    return ", ".join(f"{name} {low}..{high}" for name, (low, high) in zip(knobs, limits, strict=True))


def dry_run(server: Tunable, knobs: tuple[str, ...], seconds: float, trials: int = 0) -> str:
    """What a climb on a server in staging would do.

    Args:
        server: The server.
        knobs: What is climbed.
        seconds: How long.
        trials: How many tuples a model may name first.

    Raises:
        SettingError: A knob cannot be climbed on this server, or not from the value in force.
    """
    first = f"try up to {trials} configurations that a model names, oversubscribe and stall limit among them, and then "
    return (
        f"Would {first if trials else ''}climb for {seconds:g} s over {ranges_text(knobs, server)} from "
        f"{server.tuple_in_force()}, and restore it at the end unless --keep; add --execute to do it. For staging: a "
        "climb makes waves."
    )
