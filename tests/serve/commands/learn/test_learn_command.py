"""`poolpilot learn` as a user meets it: a folder, outcomes taken in, a bad model rolled back, the service following."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pipelines.production.conftest import curves_named, files_of, planted

from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.body import Request
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.learn import learn as learn_module
from poolpilot.pipelines.learn.learn import LearnReport
from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.pipelines.production.outcome_store import OutcomeStore
from poolpilot.serve.commands.presentation.exit_codes import INTERRUPTED, REFUSED
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import segment_path
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome

Invoke = Callable[..., Any]

SIMULATED = ("--set", "servers=simulated")
UNTRACKED = ("--set", "track=false")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "learned"


@pytest.fixture(autouse=True)
def _small_base(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = load_curves()
    small = ResponseCurves(grid=shipped.grid, source="some of what ships", curves=shipped.curves[::40])
    monkeypatch.setattr(learn_module, "load_curves", lambda: small)


def promoted(out: Path, name: str) -> str:
    """Puts a model in force, as an earlier run would have."""
    curves = curves_named(name)
    shelf = ModelShelf(out)
    shelf.put(curves.digest, files_of(name))
    shelf.promote(curves.digest)
    return curves.digest


def reported(folder: Path, digest: str, mean: float) -> None:
    """Has a service keep forty outcomes of a model."""
    with OutcomeLog(folder, 2**20) as log:
        for one in planted(digest, mean):
            request = Request((one.before, one.after), one.limits, one.objective)
            log.append(ReportedOutcome(one.id, one.server_id, 0.5, digest, one.verdict, request))


def test_learns_in_a_quick_run_and_says_what_came_of_it(invoke: Invoke, out: Path, tmp_path: Path) -> None:
    quick = ("--minutes", "15", "--set", "workloads=9", "--cpus", "2", *SIMULATED, *UNTRACKED)
    result = invoke("learn", *quick, "--out", out, "--set", "margin=1", "--json", tmp_path / "learned.json")
    assert result.code == 0, result.err
    assert "Learning for 15 minutes: one round, each collecting simulated 12.0 min" in result.out
    summary = json.loads((tmp_path / "learned.json").read_text(encoding="utf-8"))
    assert summary["promoted"]
    assert Path(summary["folder"]) == (out / "current").resolve()
    assert invoke("advise", "--help").code == 0  # the command leaves nothing behind that the next one meets


def test_what_did_badly_is_rolled_back_by_itself_and_the_service_follows(
    invoke: Invoke, out: Path, tmp_path: Path
) -> None:
    good, bad = promoted(out, "good"), promoted(out, "bad")
    models = Advisor.load(out / "current")
    assert served(models) == {bad}
    reported(tmp_path / "outcomes", good, 0.1)
    reported(tmp_path / "outcomes", bad, -0.1)
    result = invoke("learn", "--minutes", "0", "--outcomes", tmp_path / "outcomes", "--out", out, *UNTRACKED)
    assert result.code == 0, result.err
    assert f"the model {bad[:12]} is rolled back to {good[:12]}" in result.out
    assert served(models) == {bad}
    models.renew()
    assert served(models) == {good}
    kept = list(OutcomeStore(out / "records").read())
    assert (len(kept), {one.propensity for one in kept}) == (80, {0.5})


def served(models: Advisor) -> set[str]:
    """Digests of the curves that answer."""
    return {parts["curves"] for parts in models.model.digests().values()}


def test_outcomes_that_are_taken_in_twice_count_once(invoke: Invoke, out: Path, tmp_path: Path) -> None:
    good = promoted(out, "good")
    reported(tmp_path / "outcomes", good, 0.1)
    for shown in ("outcomes taken in", ""):
        result = invoke("learn", "--minutes", "0", "--outcomes", tmp_path / "outcomes", "--out", out, *UNTRACKED)
        assert (result.code, "outcomes taken in" in result.out) == (0, bool(shown))


def test_line_of_another_version_is_told_and_ends_nothing(invoke: Invoke, out: Path, tmp_path: Path) -> None:
    reported(tmp_path / "outcomes", promoted(out, "good"), 0.1)
    segment = segment_path(tmp_path / "outcomes", 1)
    segment.write_bytes(b'{"id": "old", "schema": 1}\n' + segment.read_bytes())
    result = invoke("learn", "--minutes", "0", "--outcomes", tmp_path / "outcomes", "--out", out, *UNTRACKED)
    assert result.code == 0, result.err
    assert f"line 1 of {segment} is no outcome" in result.out
    assert len(list(OutcomeStore(out / "records").read())) == 40


def test_server_of_ones_own_that_is_not_as_it_was_is_an_error(
    invoke: Invoke, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, a way back that had failed was a warning among others, and the exit status was 0."""
    sentence = "it refuses"
    monkeypatch.setattr(learn_module, "learn", lambda *_: LearnReport(out, not_brought_back=sentence))
    result = invoke("learn", "--out", out, "--json", tmp_path / "learned.json")
    assert result.code == 1
    assert sentence in result.out
    assert json.loads((tmp_path / "learned.json").read_text(encoding="utf-8"))["not_brought_back"] == sentence


def test_mistakes_are_sentences(invoke: Invoke, out: Path, tmp_path: Path) -> None:
    for given, sentence in (
        (("--minutes", "-1"), "setting 'minutes': Input should be greater than or equal to 0"),
        (("--cpus", "0"), "setting 'cpus': 'cpus' is 0; a server has a whole number of processors in 1..4096"),
        (("--cpus", "4097"), "setting 'cpus': 'cpus' is 4097; a server has a whole number of processors in 1..4096"),
        (("--minutes", "0", "--outcomes", tmp_path / "nothing"), "cannot read the outcomes in"),
        (("--json", tmp_path / "nowhere" / "file"), "there is no such folder"),
    ):
        result = invoke("learn", *given, "--out", out)
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert sentence in result.err


def test_ctrl_c_says_how_to_go_on_and_a_refusal_has_its_exit_code(
    invoke: Invoke, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    nothing = ("learn", "--minutes", "0.000001", *SIMULATED, *UNTRACKED, "--out", out)
    with monkeypatch.context() as patch:
        patch.setattr(learn_module, "judge", stopped)
        result = invoke(*nothing)
    assert result.code == INTERRUPTED
    assert "The same command goes on." in result.out
    result = invoke(*nothing)
    assert result.code == REFUSED
    assert "nothing was learned" in result.out
