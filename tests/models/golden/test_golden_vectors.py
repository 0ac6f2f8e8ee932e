"""Golden vectors hold for what answers the same, up to how sums are rounded, and for nothing else."""

import numpy as np
import pytest
from numpy.typing import NDArray

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.observation import Observation
from poolpilot.errors import ArtefactError
from poolpilot.models.golden.golden_vectors import GoldenVectors


def sums(inputs: Observation) -> NDArray[np.float32]:
    """Stands for a network."""
    slopes = np.linspace(0.1, 1.0, len(DEFAULT_GRID), dtype=np.float32)
    gains: NDArray[np.float32] = inputs["features"].sum(axis=(1, 2))[:, None] * slopes
    return gains


@pytest.fixture
def golden() -> GoldenVectors:
    """As they are read back."""
    return GoldenVectors.from_json(GoldenVectors.of(sums, DEFAULT_GRID).as_json().encode(), "here")


def test_they_hold_for_what_answers_the_same(golden: GoldenVectors) -> None:
    golden.check(sums, "the model")
    golden.check(lambda inputs: sums(inputs) * np.float32(1.0 + 1e-6), "the model")


def test_they_are_of_one_window_up_to_as_many_as_a_network_takes(golden: GoldenVectors) -> None:
    present = golden.inputs["present"]
    assert present.sum(axis=1).tolist() == list(range(1, present.shape[1] + 1))


def test_they_do_not_hold_for_another_answer(golden: GoldenVectors) -> None:
    with pytest.raises(ArtefactError, match="the model: the network does not answer what it did"):
        golden.check(lambda inputs: sums(inputs) * np.float32(1.01), "the model")
    with pytest.raises(ArtefactError, match="does not answer what it did"):
        golden.check(lambda inputs: sums(inputs)[:, :-1], "the model")
    with pytest.raises(ArtefactError, match="does not answer what it did"):
        golden.check(lambda inputs: sums(inputs) * np.float32(np.nan), "the model")


def test_network_of_other_inputs_is_refused_in_a_sentence(golden: GoldenVectors) -> None:
    with pytest.raises(ArtefactError, match="does not take the golden vectors"):
        golden.check(lambda inputs: inputs["mood"], "the model")
