"""What may be set where nobody knows better: the constant that was worth most where it was measured, with its worth."""

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple

NEUTRAL = (16, 3, 10)
MEASURED_CPUS = 2
"""Processors of the servers that it was measured on; nobody knows of others."""

MEDIAN_GAIN, LARGEST_LOSS, WORKLOADS = 0.10, 0.19, 14
TRIED_MEDIAN_GAIN, TRIED_LARGEST_LOSS = 0.09, 0.03
"""Gain in the short classes over the default, of the constant and of what a warm start ends on, in the first draw of
the MariaDB suite: `python benchmarks/mariadb_suite.py --draws 1`, docs/mariadb-suite.md; a test compares the two."""


def neutral_choice(limits: KnobSpace, in_force: PoolTuple) -> str | None:
    """The constant and its worth in a sentence, beside that of trying; None where it was not measured or is in force.

    Args:
        limits: The knobs of the server and their ranges.
        in_force: The tuple in force.
    """
    constant = in_force.with_core(NEUTRAL)
    if limits.processors != MEASURED_CPUS or not limits.allows(constant) or constant.core == in_force.core:
        return None
    return (
        f"{constant} over the default gained {MEDIAN_GAIN:.0%} in the median of {WORKLOADS} kinds of workload on "
        f"{MEASURED_CPUS} processors, several times as much beside long queries, and lost {LARGEST_LOSS:.0%} at most; "
        f"poolpilot climb --warm gained {TRIED_MEDIAN_GAIN:.0%} and lost {TRIED_LARGEST_LOSS:.0%} at most"
    ).replace("%", " %")
