"""The examples in docstrings of what users call run and give what they show."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "poolpilot.env.environments.curve_pool",
    "poolpilot.env.environments.drawn_workloads",
    "poolpilot.env.environments.pool_env",
    "poolpilot.env.environments.recorded_pool",
    "poolpilot.env.knobs",
    "poolpilot.env.measurement.sample_sweeps",
    "poolpilot.env.tuning.factory",
    "poolpilot.featurizer.histogram",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
