"""Which classes of a workload are long: those that a tuner must not starve for the sake of the short ones."""

from collections.abc import Mapping

from poolpilot.pipelines.evaluate.stage import Stage

TIMES_LONGER = 10.0
"""A class with more than so many times the processor time or the latency target of the shortest one is long."""


def long_classes(stage: Stage) -> tuple[str, ...]:
    """Names of the long classes of a workload, in order; none where neither targets nor processor times are known."""
    found = {*_far_above_least(stage.cpu_ms), *_far_above_least(stage.objective.targets_ms)}
    return tuple(sorted(found))


def _far_above_least(milliseconds: Mapping[str, float]) -> list[str]:
    known = {name: value for name, value in milliseconds.items() if value > 0.0}
    least = min(known.values(), default=0.0)
    return [name for name, value in known.items() if value > TIMES_LONGER * least]
