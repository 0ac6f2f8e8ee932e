"""A model that does badly in production gives its place back by itself; one that does not, or nobody knows, stays."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.pipelines.production.conftest import curves_named, planted

from poolpilot.models.champion import champion_folder, load_champion
from poolpilot.models.latent.learned_folder import CURVES_FILE
from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.pipelines.production.outcome_store import OutcomeStore
from poolpilot.pipelines.production.realised_gain import RealisedGain
from poolpilot.pipelines.production.roll_back import roll_back_if_worse

Put = Callable[[str], str]


@pytest.fixture
def outcomes(tmp_path: Path) -> OutcomeStore:
    return OutcomeStore(tmp_path / "store")


def test_clearly_worse_one_is_rolled_back_once(shelf: ModelShelf, put: Put, outcomes: OutcomeStore) -> None:
    first, second = put("first"), put("second")
    outcomes.take_in([*planted(first, 0.10), *planted(second, -0.05)])
    found = roll_back_if_worse(shelf, outcomes)
    assert found is not None
    assert (found.digest, found.went_back_to) == (second, first)
    assert shelf.barred() == {second}
    assert "its 40 decisions have gained" in shelf.ledger()[-1].reasons[0]
    assert roll_back_if_worse(shelf, outcomes) is None, "the first model has none before it"


@pytest.mark.parametrize(("mean", "count"), [(0.10, 40), (0.20, 40), (0.095, 40), (-0.20, 19)])
def test_one_that_is_not_surely_worse_stays(
    shelf: ModelShelf, put: Put, outcomes: OutcomeStore, mean: float, count: int
) -> None:
    first, second = put("first"), put("second")
    outcomes.take_in([*planted(first, 0.10), *planted(second, mean, count)])
    found = roll_back_if_worse(shelf, outcomes)
    assert found is not None
    assert (found.digest, found.went_back_to, shelf.barred()) == (second, None, frozenset())


def test_without_decisions_of_the_one_before_it_is_held_against_never_touching_anything(
    shelf: ModelShelf, put: Put, outcomes: OutcomeStore
) -> None:
    put("first")
    outcomes.take_in(planted(put("second"), -0.05))
    found = roll_back_if_worse(shelf, outcomes)
    assert found is not None
    assert found.went_back_to is not None
    assert found.realised.mean_before == 0.0


@pytest.mark.parametrize("few", [1, 19])
def test_few_decisions_of_the_one_before_are_as_none(
    shelf: ModelShelf, put: Put, outcomes: OutcomeStore, few: int
) -> None:
    """Before, a single one gave no interval, so that however bad the model was, it stayed for ever."""
    first, second = put("first"), put("second")
    outcomes.take_in([*planted(first, 0.0, few), *planted(second, -0.2)])
    found = roll_back_if_worse(shelf, outcomes)
    assert found is not None
    assert (found.realised.decisions, found.went_back_to) == ((40, 0), first)


def test_model_before_that_cannot_be_read_counts_as_none(shelf: ModelShelf, put: Put, outcomes: OutcomeStore) -> None:
    """Before, it stopped every `poolpilot learn`, whatever was in force."""
    first, second = put("first"), put("second")
    (shelf.model(first).folder / CURVES_FILE).write_bytes(b"damaged")
    outcomes.take_in(planted(second, -0.2))
    assert roll_back_if_worse(shelf, outcomes) is None


def test_a_network_that_both_ask_tells_them_not_apart(
    shelf: ModelShelf, outcomes: OutcomeStore, tmp_path: Path
) -> None:
    network = {f"network/{path.name}": path.read_bytes() for path in champion_folder().iterdir()}
    for name in ("first", "second"):
        curves = curves_named(name)
        curves.save(tmp_path / CURVES_FILE)
        shelf.put(curves.digest, {CURVES_FILE: (tmp_path / CURVES_FILE).read_bytes(), **network})
        shelf.promote(curves.digest)
    outcomes.take_in(planted(load_champion().digest, -0.5))
    found = roll_back_if_worse(shelf, outcomes)
    assert found is not None
    assert (found.realised.decisions, found.went_back_to) == ((0, 0), None)


def test_interval_holds_the_true_difference_as_often_as_it_says() -> None:
    held = 0
    for number in range(200):
        gain = RealisedGain.of(_gains(f"ours{number}", 0.02, 30), _gains(f"theirs{number}", 0.05, 30))
        assert gain.low is not None
        assert gain.high is not None
        held += gain.low <= -0.03 <= gain.high
    assert 0.90 <= held / 200 <= 0.99


def test_servers_are_what_is_averaged_over_where_there_are_three() -> None:
    loud = {"a": [0.1] * 100, "b": [0.3], "c": [-0.2]}
    assert RealisedGain.of(loud, {}).low == pytest.approx(-0.5585, abs=1e-4)  # t interval of 0.1, 0.3 and -0.2
    alike = RealisedGain.of({"a": [0.1, 0.1]}, {})
    assert alike.low == alike.high == pytest.approx(0.1)
    assert RealisedGain.of({"a": [0.1]}, {}).low is None
    assert RealisedGain.of({}, {}).in_words().startswith("its 0 decisions")


def _gains(name: str, mean: float, count: int) -> dict[str, list[float]]:
    return {"db": [one.gain for one in planted(name, mean, count)]}
