"""What a search has come to is told as far as it can be believed."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.search.search_outcome import verdict


def run_that_gained(factor: float, target: str) -> Any:
    """A run whose best tuple has so many times the goodput, or a latency so many times as short."""
    return SimpleNamespace(
        best=PoolTuple(39, 2, 10),
        before=SimpleNamespace(window=SimpleNamespace(pool_tuple=PoolTuple(1, 3, 500))),
        gain=math.log(factor),
        controller=SimpleNamespace(rounds_done=30, observations=range(31)),
        plan=SimpleNamespace(space=SimpleNamespace(names=("pool_size",)), settings=SimpleNamespace(target=target)),
    )


@pytest.mark.parametrize(
    ("factor", "target", "words"),
    [
        (1.5, "objective", "objective +50 % against the first configuration"),
        (41.76, "objective", "objective more than 10 times against the first configuration"),
        (2.0, "latency", "mean latency -50 % against the first configuration"),
    ],
)
def test_gain_is_no_percentage_of_thousands(factor: float, target: str, words: str) -> None:
    assert verdict(run_that_gained(factor, target)).endswith(f"best: (39, 2, 10), {words}.")
