"""A CPU quota that is used up: the server stands still until the next period, whatever its pool is set to."""

from poolpilot.featurizer.catalogue import THROTTLED_SHARE
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.host.quota_periods import USED_UP, used_up_in_words


def is_quota_used_up(window: Window) -> bool:
    """Whether the server was throttled in so many periods of a window that processors do not idle, but are withheld."""
    return throttled_share(window) >= USED_UP


def used_up_quota(window: Window) -> str | None:
    """That the quota is used up and what helps, as a sentence; None where it is not, or nobody can tell."""
    return used_up_in_words(window.profile.features.get("cpus"), throttled_share(window))


def asks_for_more(chosen: PoolTuple, in_force: PoolTuple) -> bool:
    """Whether a tuple lets more threads run at once, or sooner, which a quota only lets wait for one another."""
    more = chosen.active_threads > in_force.active_threads
    return more or chosen.timer_interval_ms < in_force.timer_interval_ms


def throttled_share(window: Window) -> float:
    """Throttled periods over all of a window; 0 where nobody counts any."""
    return window.indicators.get(THROTTLED_SHARE, 0.0)
