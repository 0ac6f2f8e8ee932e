"""What decides unless told otherwise, and how a network is asked for by folder, by name or by the environment."""

from pathlib import Path

import pytest

from poolpilot.errors import ArtefactError, FeatureError
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.advisor.model import NETWORK, Model
from poolpilot.models.champion import ANY_MACHINE, CHAMPIONS, Kind, champion_folder, load_any_machine, load_champion
from poolpilot.models.latent.shipped_curves import load_curves


@pytest.fixture(autouse=True)
def _shipped_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable in (*CHAMPIONS.values(), ANY_MACHINE):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("server_kind", ["native", "simulated", "mariadb"])
def test_curves_try_and_a_network_is_asked_first_after_one_look(
    server_kind: ServerKind,
) -> None:
    model, trying = Model.load(None, server_kind), Model.load(None, server_kind, to_try=True)
    assert (trying.curves, dict(trying.networks)) == (load_curves(), {})
    ((kind, networks),) = model.networks.items()
    assert kind == networks.network.artefact.card.kind == ("mariadb" if server_kind == "mariadb" else "native")
    assert model.curves == load_curves()
    assert not networks.alone
    assert (networks.any_machine is None) == (server_kind == "mariadb")


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
        Model.load(None, "native")
    assert Model.load(None, "mariadb").networks.keys() == {"mariadb"}
    monkeypatch.setenv(ANY_MACHINE[1], str(champion_folder(kind="mariadb")))
    with pytest.raises(ArtefactError, match="is for servers of the kind 'mariadb'"):
        Model.load(None, "native")


@pytest.mark.parametrize("model", [NETWORK, None])
def test_a_network_is_named_or_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, model: Path | None) -> None:
    if model is None:
        monkeypatch.setenv(CHAMPIONS["native"][1], str(champion_folder()))
    for to_try in (False, True):
        networks = Model.load(model, "native", to_try=to_try).networks["native"]
        assert networks.alone
        assert networks.network.artefact.digest == load_champion().digest


@pytest.mark.parametrize("kind", CHAMPIONS)
def test_an_empty_variable_names_no_network(monkeypatch: pytest.MonkeyPatch, kind: Kind) -> None:
    """Before, a unit or a compose file that leaves it empty had the shipped network decide alone."""
    monkeypatch.setenv(CHAMPIONS[kind][1], "")
    assert not Model.load(None, kind).networks[kind].alone
    assert not Model.load(None, kind, to_try=True).networks


def test_folder_of_another_kind_or_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="for servers of the kind 'native', and this one is 'mariadb'"):
        Model.load(champion_folder(), "mariadb")
    with pytest.raises(ArtefactError, match="there is no champion in"):
        Model.load(tmp_path, "native", to_try=True)


@pytest.mark.parametrize("server_kind", ["curve", "other"])
def test_servers_that_nobody_has_learned_from_are_tried_but_not_advised(server_kind: ServerKind) -> None:
    assert Model.load(None, server_kind, to_try=True).curves == load_curves()
    with pytest.raises(FeatureError, match="no model has learned from such servers"):
        Model.load(None, server_kind)
    with pytest.raises(FeatureError, match="no model has learned from such servers"):
        Model.load(NETWORK, server_kind, to_try=True)


def test_a_networks_folder_answers_alone_for_its_kind_and_what_ships_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = champion_folder(kind="mariadb")
    assert {kind: one.alone for kind, one in Model.load().networks.items()} == {"native": False, "mariadb": False}
    assert {kind: one.alone for kind, one in Model.load(folder).networks.items()} == {"native": False, "mariadb": True}
    monkeypatch.setenv(CHAMPIONS["native"][1], str(champion_folder()))
    assert Model.load().networks["native"].alone
    monkeypatch.setenv(CHAMPIONS["mariadb"][1], "nowhere")
    assert Model.load(folder).networks.keys() == CHAMPIONS.keys()
    with pytest.raises(ArtefactError, match="no champion in nowhere"):
        Model.load()
