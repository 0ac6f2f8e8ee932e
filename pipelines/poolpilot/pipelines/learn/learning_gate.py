"""The gate before production: what was learned must lose no more than what is in force, on unseen workloads."""

from collections.abc import Collection, Sequence

from poolpilot.pipelines.evaluate.statistics.regret_statistics import FEWEST_WORKLOADS
from poolpilot.pipelines.learn.replayed_regret import RegretDifference


def objections_to_learned(
    beside: Sequence[tuple[str, Sequence[RegretDifference]]], margin: float, digest: str, barred: Collection[str]
) -> tuple[str, ...]:
    """Why what was learned must not be put in force, as sentences; empty where nothing speaks against it.

    Args:
        beside: Names of what it was compared with, and the differences for each kind of server.
        margin: Mean regret by which it may be worse.
        digest: Its digest.
        barred: Digests of models that did badly in production.
    """
    objections = list(objections_of_production(digest, barred))
    judged = sum(one.workloads for _, found in beside[:1] for one in found)
    if judged < FEWEST_WORKLOADS:
        objections.append(
            f"it was judged on {judged} held-out workloads and {FEWEST_WORKLOADS} are needed: learn for longer"
        )
    for name, found in beside:
        objections += [
            f"on {one.server} its mean regret is {one.mean:.1%}, more than {margin:.1%} above the "
            f"{one.mean_before:.1%} of {name}"
            for one in found
            if not one.mean <= one.mean_before + margin  # neither is a number that is none
        ]
    return tuple(objections)


def objections_of_production(digest: str, barred: Collection[str]) -> tuple[str, ...]:
    """Why a model that did badly in production must not be put in force again; empty where it did not.

    Args:
        digest: Its digest.
        barred: Digests of models that did badly in production.
    """
    return (f"the same model, {digest[:12]}, was rolled back in production before",) if digest in barred else ()
