"""A CPU quota that is used up: the server stands still until the next period, and no thread of the pool changes that."""

from poolpilot.env.mariadb.host.quota_periods import RAISE_QUOTA, USED_UP, quota_in_words
from poolpilot.featurizer.catalogue import THROTTLED_SHARE
from poolpilot.featurizer.window import Window


def is_quota_used_up(window: Window) -> bool:
    """Whether the server was throttled in so many periods of a window that processors do not idle, but are withheld."""
    return window.indicators.get(THROTTLED_SHARE, 0.0) >= USED_UP


def used_up_quota(window: Window) -> str | None:
    """That the quota is used up and what helps, as a sentence; None where it is not, or nobody can tell."""
    cpus = window.profile.features.get("cpus")
    said = quota_in_words(cpus, window.indicators.get(THROTTLED_SHARE, 0.0))
    return None if said is None else f"{said}; {RAISE_QUOTA}"
