"""What decides unless told otherwise, and how a network is asked for by folder, by name or by the environment."""

from pathlib import Path

import pytest

from poolpilot.errors import ArtefactError, FeatureError
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.champion import ANY_MACHINE, CHAMPIONS, Kind, champion_folder, load_any_machine, load_champion
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.one_observation import OneObservation
from poolpilot.models.latent.shipped import NETWORK, advisor_for, bandit_for
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor


@pytest.fixture(autouse=True)
def _shipped_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable in (*CHAMPIONS.values(), ANY_MACHINE):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("server_kind", ["native", "simulated", "mariadb"])
def test_curves_try_and_a_network_is_asked_first_after_one_look(
    server_kind: ServerKind,
) -> None:
    assert isinstance(bandit_for(server_kind), LatentBandit)
    look = advisor_for(server_kind)
    assert isinstance(look, OneObservation)
    assert look.network.artefact.card.kind == ("mariadb" if server_kind == "mariadb" else "native")
    assert look.advisor.curves == load_curves()
    assert (look.rules is not None) == (server_kind == "mariadb")
    assert (look.any_machine is None) == (server_kind == "mariadb")


def test_every_size_of_machine_is_known_to_a_network_that_ships() -> None:
    own, other = load_champion().card.out_of_distribution, load_any_machine().card.out_of_distribution
    assert all(own.knows_cpus(cpus) for cpus in (1, 2))
    assert all(other.knows_cpus(cpus) for cpus in (3, 4, 16, 64, 96))


def test_model_for_machines_of_any_size_is_named_by_the_environment_or_missed_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(ANY_MACHINE[1], str(champion_folder()))
    assert load_any_machine().digest == load_champion().digest
    monkeypatch.setenv(ANY_MACHINE[1], str(tmp_path))
    with pytest.raises(ArtefactError, match=f"no model for machines of any size in .*{ANY_MACHINE[1]}"):
        advisor_for("native")
    assert advisor_for("mariadb").artefact.card.kind == "mariadb"
    monkeypatch.setenv(ANY_MACHINE[1], str(champion_folder(kind="mariadb")))
    with pytest.raises(ArtefactError, match="is for servers of the kind 'mariadb'"):
        advisor_for("native")


@pytest.mark.parametrize("model", [NETWORK, None])
def test_a_network_is_named_or_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, model: Path | None) -> None:
    if model is None:
        monkeypatch.setenv(CHAMPIONS["native"][1], str(champion_folder()))
    asked, tried = advisor_for("native", model), bandit_for("native", model)
    assert isinstance(asked, ScorePredictor)
    assert isinstance(tried, ScorePredictor)
    assert asked.artefact.digest == load_champion().digest
    assert tried.settings != asked.settings  # who measures what follows may be bolder


@pytest.mark.parametrize("kind", CHAMPIONS)
def test_an_empty_variable_names_no_network(monkeypatch: pytest.MonkeyPatch, kind: Kind) -> None:
    """Before, a unit or a compose file that leaves it empty had the shipped network decide alone."""
    monkeypatch.setenv(CHAMPIONS[kind][1], "")
    assert isinstance(advisor_for(kind), OneObservation)
    assert isinstance(bandit_for(kind), LatentBandit)


def test_folder_of_another_kind_or_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="for servers of the kind 'native', and this one is 'mariadb'"):
        advisor_for("mariadb", champion_folder())
    with pytest.raises(ArtefactError, match="there is no champion in"):
        bandit_for("native", tmp_path)


@pytest.mark.parametrize("server_kind", ["curve", "other"])
def test_servers_that_nobody_has_learned_from_are_tried_but_not_advised(server_kind: ServerKind) -> None:
    assert isinstance(bandit_for(server_kind), LatentBandit)
    with pytest.raises(FeatureError, match="no model has learned from such servers"):
        advisor_for(server_kind)
    with pytest.raises(FeatureError, match="no model has learned from such servers"):
        bandit_for(server_kind, NETWORK)
