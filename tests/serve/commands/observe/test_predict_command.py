"""`poolpilot advise --windows`: a request from a file, the advice as a table and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import CHAMPIONS, MODEL_FOR, champion_folder, load_champion
from poolpilot.models.latent.shipped_curves import load_curves


@pytest.fixture
def body(tmp_path: Path, request_values: dict[str, Any]) -> Path:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(request_values), encoding="utf-8")
    return path


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Predictor], None]:
    """Puts a predictor in the place of the model for the windows."""

    def arrange(predictor: Predictor) -> None:
        monkeypatch.setattr(Advisor, "load", lambda *_: predictor)

    return arrange


def test_shows_tuple_gain_and_reasons(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], predictor: Predictor, body: Path
) -> None:
    use(predictor)
    result = invoke("advise", "--windows", body)
    assert result.code == 0
    for shown in ("(16, 3, 10)", "+35 %", "+22 %", "+49 %", "requests wait silently", "abababababab"):
        assert shown in result.out


def test_says_when_it_abstains(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], tellable: Callable[..., Predictor], body: Path
) -> None:
    use(tellable(abstained=True))
    result = invoke("advise", "--windows", body)
    assert "no advice, because requests wait silently" in result.out
    next_steps = {"poolpilot climb DSN --warm --execute", "poolpilot climb DSN --sweep --execute"}
    assert next_steps <= set(result.out.splitlines())
    assert "leave it" not in result.out
    assert "expected" not in result.out
    said = " ".join(result.out.replace("│", " ").split())
    known = f"the {len(load_curves().curves)} known workloads, most of them simulated"
    assert "untried" in said
    assert f"loses least of all constants on 2 processors under {known}" in said


def test_leaves_it_only_where_it_knows(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], tellable: Callable[..., Predictor], body: Path
) -> None:
    use(tellable(pool_tuple=PoolTuple(2, 3, 500)))
    result = invoke("advise", "--windows", body)
    assert "leave it at (2, 3, 500)" in result.out
    assert "no advice" not in result.out
    assert "--execute" not in result.out


def test_writes_the_same_as_the_service_answers(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], predictor: Predictor, body: Path, tmp_path: Path
) -> None:
    use(predictor)
    path = tmp_path / "answer.json"
    assert invoke("advise", "--windows", body, "--json", path).code == 0
    answer = json.loads(path.read_text(encoding="utf-8"))
    assert (answer["pool_tuple"]["pool_size"], answer["keeps"], answer["verdict"]) == (16, False, "change")


def test_a_bad_window_is_named_with_its_file(
    invoke: Callable[..., Any], body: Path, request_values: dict[str, Any]
) -> None:
    request_values["windows"][0]["duration_s"] = -1
    body.write_text(json.dumps(request_values), encoding="utf-8")
    result = invoke("advise", "--windows", body)
    assert (result.code, result.out) == (1, "")
    assert "body.json: body.windows.0.duration_s" in result.err


def test_a_missing_file_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path) -> None:
    result = invoke("advise", "--windows", tmp_path / "none.json")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "none.json: No such file" in result.err


def test_a_missing_champion_is_one_sentence(invoke: Callable[..., Any], body: Path, tmp_path: Path) -> None:
    result = invoke("advise", "--windows", body, "--model", tmp_path / "nowhere")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "nowhere" in result.err


def test_an_unwritable_answer_is_one_sentence(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], predictor: Predictor, body: Path, tmp_path: Path
) -> None:
    use(predictor)
    result = invoke("advise", "--windows", body, "--json", tmp_path / "no" / "answer.json")
    assert result.code == 1
    assert "cannot write" in result.err


@pytest.fixture
def _shipped_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable in CHAMPIONS.values():
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.usefixtures("_shipped_models")
@pytest.mark.parametrize(("server_kind", "kind"), [*MODEL_FOR.items(), (None, "native")])
def test_known_curves_answer_for_every_server_and_a_network_for_its_own_kind(
    invoke: Callable[..., Any],
    body: Path,
    request_values: dict[str, Any],
    tmp_path: Path,
    server_kind: ServerKind | None,
    kind: ModelKind,
) -> None:
    (window,) = request_values["windows"]
    if server_kind is None:  # as releases before this field wrote it
        del window["server_kind"]
    else:
        window["server_kind"] = server_kind
    body.write_text(json.dumps(request_values), encoding="utf-8")
    network = load_champion(kind=kind).digest
    for named, digests in ((["--model", "network"], {network}), ([], {network, load_curves().digest})):
        assert invoke("advise", "--windows", body, "--json", tmp_path / "answer.json", *named).code == 0
        answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
        assert answer["model_digest"] in digests


@pytest.mark.usefixtures("_shipped_models")
@pytest.mark.parametrize(
    ("server_kind", "model", "says"),
    [
        ("mariadb", "native", "is for servers of the kind 'native', and this one is 'mariadb': name a model for"),
        ("native", "mariadb", "is for servers of the kind 'mariadb', and this one is 'native': name a model for"),
        ("other", None, "server_kind is 'other', and no model has learned from such servers"),
        ("curve", "native", "server_kind is 'curve', and no model has learned from such servers"),
        ("postgres", None, "server_kind is 'postgres'; allowed is one of native, simulated, mariadb, curve, other"),
    ],
)
def test_windows_of_a_server_that_the_model_does_not_know_are_refused_by_name(
    invoke: Callable[..., Any],
    body: Path,
    request_values: dict[str, Any],
    server_kind: str,
    model: ModelKind | None,
    says: str,
) -> None:
    request_values["windows"][0]["server_kind"] = server_kind
    body.write_text(json.dumps(request_values), encoding="utf-8")
    named = [] if model is None else ["--model", champion_folder(kind=model)]
    result = invoke("advise", "--windows", body, *named)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert says in result.err
