"""`poolpilot predict`: a request from a file, the advice as a table and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.predictor import Predictor
from poolpilot.serve.commands.look import predict_command


@pytest.fixture
def body(tmp_path: Path, request_values: dict[str, Any]) -> Path:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(request_values), encoding="utf-8")
    return path


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Predictor], None]:
    """Puts a predictor in the place of the model for the windows."""

    def arrange(predictor: Predictor) -> None:
        monkeypatch.setattr(predict_command, "load_for", lambda *_: None)
        monkeypatch.setattr(predict_command, "ScorePredictor", lambda _: predictor)

    return arrange


def test_shows_tuple_gain_and_reasons(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], predictor: Predictor, body: Path
) -> None:
    use(predictor)
    result = invoke("predict", "--windows", body)
    assert result.code == 0
    for shown in ("(16, 3, 10)", "+35 %", "+22 %", "+49 %", "requests wait silently", "abababababab"):
        assert shown in result.out


def test_says_when_it_abstains(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], tellable: Callable[..., Predictor], body: Path
) -> None:
    use(tellable(abstained=True))
    result = invoke("predict", "--windows", body)
    assert "no advice, because requests wait silently" in result.out
    assert {"poolpilot sweep DSN --execute", "poolpilot climb DSN --execute"} <= set(result.out.splitlines())
    assert "leave it" not in result.out
    assert "%" not in result.out


def test_leaves_it_only_where_it_knows(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], tellable: Callable[..., Predictor], body: Path
) -> None:
    use(tellable(pool_tuple=PoolTuple(2, 3, 500)))
    result = invoke("predict", "--windows", body)
    assert "leave it at (2, 3, 500)" in result.out
    assert "no advice" not in result.out
    assert "--execute" not in result.out


def test_writes_the_same_as_the_service_answers(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], predictor: Predictor, body: Path, tmp_path: Path
) -> None:
    use(predictor)
    path = tmp_path / "answer.json"
    assert invoke("predict", "--windows", body, "--json", path).code == 0
    answer = json.loads(path.read_text(encoding="utf-8"))
    assert (answer["pool_tuple"]["pool_size"], answer["keeps"], answer["verdict"]) == (16, False, "change")


def test_a_bad_window_is_named_with_its_file(
    invoke: Callable[..., Any], body: Path, request_values: dict[str, Any]
) -> None:
    request_values["windows"][0]["duration_s"] = -1
    body.write_text(json.dumps(request_values), encoding="utf-8")
    result = invoke("predict", "--windows", body)
    assert (result.code, result.out) == (1, "")
    assert "body.json: body.duration_s" in result.err


def test_a_missing_file_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path) -> None:
    result = invoke("predict", "--windows", tmp_path / "none.json")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "none.json: No such file" in result.err


def test_a_missing_champion_is_one_sentence(invoke: Callable[..., Any], body: Path, tmp_path: Path) -> None:
    result = invoke("predict", "--windows", body, "--model", tmp_path / "nowhere")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "nowhere" in result.err


def test_an_unwritable_answer_is_one_sentence(
    invoke: Callable[..., Any], use: Callable[[Predictor], None], predictor: Predictor, body: Path, tmp_path: Path
) -> None:
    use(predictor)
    result = invoke("predict", "--windows", body, "--json", tmp_path / "no" / "answer.json")
    assert result.code == 1
    assert "cannot write" in result.err
