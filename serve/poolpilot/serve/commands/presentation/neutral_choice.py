"""What may be set where nobody knows better: the constant that was worth most where it was measured, with its worth."""

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple

NEUTRAL = (16, 3, 10)
NEAR = (4, 3, 10)
"""Where long statements are to keep their share, which the other breaks beside scans and analytics."""

MEASURED_CPUS = 2
"""Processors of the servers that it was measured on; nobody knows of others."""

WORKLOADS = 56
GAIN_AND_LOSS = {NEUTRAL: (0.11, 0.20), NEAR: (0.06, 0.10)}
TRIED_MEDIAN_GAIN, TRIED_LARGEST_LOSS = 0.07, 0.05
"""Median gain in the short classes over the default, and the largest loss, of the constants and of what a warm start
ends on, on the workloads of the MariaDB suite that last, as they were read first (docs/mariadb-suite.md); a test
compares them with its reports."""


def neutral_choice(limits: KnobSpace, in_force: PoolTuple, *, near: bool = False) -> str | None:
    """The constant and its worth in a sentence, beside that of trying; None where it was not measured or is in force.

    Args:
        limits: The knobs of the server and their ranges.
        in_force: The tuple in force.
        near: Whether long statements are to keep a share.
    """
    core = NEAR if near else NEUTRAL
    constant, (gain, loss) = in_force.with_core(core), GAIN_AND_LOSS[core]
    if limits.processors != MEASURED_CPUS or not limits.allows(constant) or constant.core == in_force.core:
        return None
    return (
        f"{constant} over the default gained {gain:.0%} in the median of {WORKLOADS} workloads on "
        f"{MEASURED_CPUS} processors, several times as much beside long queries, and lost {loss:.0%} at most; "
        f"poolpilot climb --warm gained {TRIED_MEDIAN_GAIN:.0%} and lost {TRIED_LARGEST_LOSS:.0%} at most"
    ).replace("%", " %")
