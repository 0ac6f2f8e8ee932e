"""`poolpilot tune` and `poolpilot why` on a simulated pool, from their arguments to what they print and write."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.serve.tuner.conftest import Drive, rising

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.production.outcome_store import OutcomeStore
from poolpilot.serve.commands.learn.learn_command import reported_outcomes
from poolpilot.serve.commands.presentation.exit_codes import REFUSED
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.tuner.decision_log import DecisionLog, read_log
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Proposal

SIMULATED = ("--backend", "simulated", "--set", "seed=3")
QUICK = tuple(
    f"--set={one}"
    for one in ("pace.observe_for_s=2", "pace.baseline_windows=2", "pace.least_pairs=2", "guard.cool_down_s=5")
)

Invoke = Callable[..., Any]


@pytest.fixture(autouse=True)
def journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def test_it_advises_unless_told_to_apply(invoke: Invoke, tmp_path: Path) -> None:
    written = tmp_path / "out.json"
    result = invoke("tune", *SIMULATED, *QUICK, "--seconds", 20, "--json", written)
    assert (result.code, result.err) == (0, "")
    assert "mode advise" in result.out
    assert "In force now" not in result.out
    values = json.loads(written.read_text())
    assert values["incumbent"] == values["initial"]
    assert (values["incumbent_by"], values["trials"]) == ("nobody", 0)


def test_what_it_applies_is_verified_and_stays(invoke: Invoke, tmp_path: Path) -> None:
    written = tmp_path / "out.json"
    options = ("--mode", "apply", "--seconds", 60, "--propose", "4,3,500", "--json", written)
    result = invoke("tune", *SIMULATED, *QUICK, *options)
    assert (result.code, result.err) == (0, "")
    assert "(4, 3, 500) is verified" in result.out
    assert "In force now: (4, 3, 500)." in result.out
    values = json.loads(written.read_text())
    assert (values["incumbent"]["pool_size"], values["incumbent_by"]) == (4, "tuner")
    assert values["trials"] >= 2
    assert values["lost_requests"] < 0.0


def test_every_decision_of_a_log_is_made_again(invoke: Invoke, tmp_path: Path) -> None:
    log, written = tmp_path / "log", tmp_path / "why.json"
    invoke("tune", *SIMULATED, *QUICK, "--mode", "apply", "--seconds", 40, "--propose", "4,3,500", "--log", log)
    result = invoke("why", log, "--replay", "--json", written)
    assert (result.code, result.err) == (0, "")
    told = json.loads(written.read_text())["replay"]
    assert told["decisions"] > 10
    assert (told["differing"], told["left_out"]) == ([], [])
    assert f"Replayed {told['decisions']} decisions: all as they were." in result.out
    file = log / "decisions.jsonl"
    file.write_text(file.read_text().replace("is verified", "is doubted", 1))
    other = invoke("why", log, "--replay")
    assert "is doubted" in other.out
    assert (other.code, other.err) == (REFUSED, ""), "a script that checks a log must see it"
    file.write_text(file.read_text().replace('"rules"', '"laws"', 1))
    said = invoke("why", log, "--replay").out
    assert "Replayed 0 decisions" in said
    assert "all as they were" not in said
    assert "does not tell by which rules it was written" in " ".join(said.split())


@pytest.mark.parametrize("held", ["", '{"log": 1, "server": "a pool", "memory": {}, "rules": {}}\n'])
def test_log_of_which_nothing_is_replayed_is_no_pass(invoke: Invoke, tmp_path: Path, held: str) -> None:
    """Before, 'Replayed 0 decisions: all as they were.' and 0 told a script that all was well."""
    (tmp_path / "decisions.jsonl").write_text(held)
    assert invoke("why", tmp_path).code == 0, "there is nothing to tell, and nothing is checked"
    result = invoke("why", tmp_path, "--replay")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert f"nothing was replayed of the log in {tmp_path}: " in result.err
    assert "all as they were" not in result.out


def test_embedded_pool_is_tuned_as_any_server(invoke: Invoke, tmp_path: Path) -> None:
    written = tmp_path / "out.json"
    options = ("--mode", "apply", "--seconds", 12, "--propose", "2,3,500", "--json", written)
    result = invoke("tune", "--backend", "native", *QUICK, *options)
    assert (result.code, result.err) == (0, "")
    values = json.loads(written.read_text())
    assert values["trials"] >= 1
    size, oversubscribe, timer_interval_ms = (
        values["incumbent"][name] for name in ("pool_size", "oversubscribe", "timer_interval_ms")
    )
    assert f"In force now: ({size}, {oversubscribe}, {timer_interval_ms})." in result.out


def test_first_tuple_returns_at_the_end_where_that_is_asked_for(invoke: Invoke) -> None:
    options = ("--mode", "apply", "--seconds", 60, "--propose", "4,3,500", "--at-end", "initial")
    result = invoke("tune", *SIMULATED, *QUICK, *options)
    assert "(4, 3, 500) is verified" in result.out
    assert "In force now: (1, 3, 500)." in result.out


def test_bad_proposal_is_rolled_back(invoke: Invoke, tmp_path: Path) -> None:
    written = tmp_path / "out.json"
    options = ("--mode", "apply", "--seconds", 40, "--propose", "32,3,500", "--json", written)
    result = invoke("tune", *SIMULATED, "--set", "family=latch_single", *QUICK, *options)
    assert (result.code, result.err) == (0, "")
    values = json.loads(written.read_text())
    assert values["incumbent"] == values["initial"]


def test_why_tells_what_the_tuner_decided(invoke: Invoke, tmp_path: Path) -> None:
    invoke("tune", *SIMULATED, *QUICK, "--seconds", 30, "--propose", "4,3,500")
    written = tmp_path / "why.json"
    result = invoke("why", "--last", 3, "--json", written)
    assert (result.code, result.err) == (0, "")
    told = json.loads(written.read_text())["decisions"]
    assert 1 <= len(told) <= 3
    assert any("would try (2, 3, 500), but the mode is advise" in each["why"] for each in told)
    named = invoke("why", json.loads(written.read_text())["folder"], "--last", 3)
    assert "would try" in named.out


def test_why_tells_what_was_promised_with_its_interval(invoke: Invoke, tmp_path: Path) -> None:
    proposal = Proposal(pool_tuple=PoolTuple(4, 3, 500), abstained=False, gain=0.2, reason="told so")
    drive = Drive(rising)
    with closing(DecisionLog(tmp_path / "told", "a pool")) as log:
        for ends in ({}, {"gain_low": -0.1, "gain_high": 0.4}, {"gain_low": 0.2, "gain_high": 0.2}):
            before = drive.memory
            drive.turn(proposal=proposal.model_copy(update=ends))
            log.write(before, drive.observations[-1], before.decision(f"promised {len(drive.observations)}"))
        log.write(drive.memory, drive.observation(proposal=None), drive.memory.decision("not asked"))
    written = tmp_path / "why.json"
    result = invoke("why", tmp_path / "told", "--json", written)
    assert (result.code, result.err) == (0, "")
    assert "expected" in result.out
    told = {each["why"]: each["expected"] for each in json.loads(written.read_text())["decisions"]}
    assert told == {
        "promised 1": "+22 %",
        "promised 2": "+22 % (-10 % to +49 %)",
        "promised 3": "+22 %",
        "not asked": "",
    }


def test_why_without_any_tuner_is_one_sentence(invoke: Invoke) -> None:
    result = invoke("why")
    assert result.code == 1
    assert "no tuner of this user has decided anything on this host" in result.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--hours", "never"), "'never' are no hours: write always, nights"),
        (("--propose", "many"), "write three whole numbers, such as 16,3,10"),
        (("--propose", "nan,3,10"), "write three whole numbers, such as 16,3,10"),
        (("--propose", "0,3,10"), "--propose 0,3,10: pool_size is 0, outside the allowed range 1..128"),
        (("--propose", "4,1001,10"), "--propose 4,1001,10: oversubscribe is 1001, outside the allowed range 1..1000"),
        (("--keeper",), "--keeper watches over a MariaDB server"),
        (("--set", "guard.factor=1"), "guard.factor"),
        (("--set", "guard.retry_after_s=inf"), "guard.retry_after_s"),
        (("--set", "pace.ratio_shift=inf"), "pace.ratio_shift"),
        (("--set", "pace.look_shift=0.3"), "'pace.look_shift' is called 'pace.ratio_shift' now"),
        (("--set", "guard.tries_per_hour=3"), "is called 'guard.trials_per_hour' now"),
        (("--at-end", "first"), "setting 'at_end': Input should be 'incumbent' or 'initial'; it is 'first'"),
        (("--window", "inf"), "window"),
        (("--set", "guard.least_size=200", "--set", "guard.most_size=300"), "but the server takes 1..128"),
        (
            ("--set", "guard.least_size=64", "--set", "guard.most_size=2"),
            "guard.least_size is 64, above guard.most_size",
        ),
        (
            ("--set", "guard.least_stall_limit_ms=5000", "--set", "guard.most_stall_limit_ms=10"),
            "guard.least_stall_limit_ms is",
        ),
        (
            ("--set", "pace.least_pairs=10", "--set", "pace.most_pairs=2"),
            "pace.least_pairs is 10, above pace.most_pairs, which",
        ),
        (("--mode", "dictate"), "mode"),
        (("--token-file", "tokens"), "the setting token_file is of a service: name one by --remote"),
        (("--remote", "http://example.org:8750"), "leaves this host without TLS"),
        (("--remote", "http://127.0.0.1:1", "--propose", "4,3,500"), "leave out --model and --propose"),
        (("--remote", "http://127.0.0.1:1", "--outcomes", "kept"), "leave out --outcomes"),
        (("--remote", "http://127.0.0.1:1", "--set", "remote_digest=latest"), "remote_digest"),
    ],
)
def test_wrong_settings_are_one_sentence(invoke: Invoke, options: tuple[str, ...], said: str) -> None:
    result = invoke("tune", *SIMULATED, "--seconds", 5, *options)
    assert result.code in (1, 2)
    assert said in result.err
    assert "Traceback" not in result.err


def test_it_begins_on_a_server_that_somebody_has_named_alone(invoke: Invoke, journals: Path) -> None:
    """Before, it tuned a pool of its own under a load of its own, for as long as nobody ended it."""
    result = invoke("tune", "--seconds", 5, "--mode", "apply")
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert "no server is named" in result.err
    assert "DSN" in result.err
    assert "--backend simulated" in result.err
    assert [*journals.iterdir()] == []


@pytest.mark.parametrize("named", [{"backend": "simulated"}, {"family": "page_faults"}, {"workload": "mine.json"}])
def test_whoever_names_a_pool_or_its_load_may_leave_out_a_dsn(named: dict[str, str]) -> None:
    TuneSettings.of(named).check_named()


def test_kill_switch_keeps_it_from_setting_anything(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "stop").touch()
    options = ("--mode", "apply", "--seconds", 20, "--propose", "4,3,500", "--log", tmp_path)
    result = invoke("tune", *SIMULATED, *QUICK, *options)
    assert "a person has thrown the kill switch" in result.out
    assert "In force now: (1, 3, 500)." in result.out


def test_service_that_is_not_there_leaves_the_pool_alone_and_says_so(invoke: Invoke) -> None:
    options = ("--mode", "apply", "--seconds", 15, "--remote", "http://127.0.0.1:1")
    result = invoke("tune", *SIMULATED, *QUICK, *options)
    assert (result.code, result.err) == (0, "")
    assert "no advice: the predictor fails: http://127.0.0.1:1 could not be asked: Connection refused" in result.out
    assert "In force now: (1, 3, 500)." in result.out


def test_service_is_asked_and_told(invoke: Invoke, serving: Callable[..., Any], tellable: Callable[..., Any]) -> None:
    service = serving(tellable(PoolTuple(4, 3, 500), gain=1.0))
    options = ("--mode", "apply", "--seconds", 40, "--remote", service.url, "--set", "remote_deadline_s=30")
    result = invoke("tune", *SIMULATED, *QUICK, *options)
    assert (result.code, result.err) == (0, "")
    assert "(4, 3, 500) is verified" in result.out
    assert f"Outcomes reported to {service.url}: 0" in result.out
    assert "this service keeps no outcomes" in result.out


def test_why_adds_up_what_tuning_did_cost_and_bring(invoke: Invoke, tmp_path: Path) -> None:
    invoke("tune", *SIMULATED, *QUICK, "--mode", "apply", "--seconds", 60, "--propose", "4,3,500")
    written = tmp_path / "why.json"
    result = invoke("why", "--report", "--json", written)
    assert (result.code, result.err) == (0, "")
    assert "Against never touching anything" in result.out
    account = json.loads(written.read_text())["account"]
    assert account["kept"] == 2
    assert account["lost"]["requests"] <= account["most_lost"]
    assert account["gained"]["low"] > 0.0


def test_outcomes_are_kept_where_learn_takes_them_in(invoke: Invoke, tmp_path: Path) -> None:
    folder = tmp_path / "outcomes"
    options = ("--mode", "apply", "--seconds", 60, "--outcomes", folder)
    result = invoke("tune", *SIMULATED, *QUICK, *options)
    assert (result.code, result.err) == (0, "")
    kept = list(reported_outcomes(folder, pytest.fail))
    assert f"Outcomes kept in {folder}: {len(kept)}, lost 0." in result.out
    assert kept
    assert {(one.model_digest, one.propensity) for one in kept} == {(load_curves().digest, 1.0)}
    assert {one.verdict for one in kept} <= {"kept", "rolled back"}
    assert OutcomeStore(tmp_path / "records").take_in(kept) == len(kept)
    again = invoke("tune", *SIMULATED, *QUICK, *options, "--log", tmp_path / "knows nothing")
    assert again.code == 0
    assert len({one.id for one in reported_outcomes(folder, pytest.fail)}) > len(kept), "what was kept before stays"


def test_outcomes_that_cannot_be_kept_are_told_before_anything_is_set(invoke: Invoke, tmp_path: Path) -> None:
    options = ("--mode", "apply", "--seconds", 5, "--outcomes", tmp_path)
    with OutcomeLog(tmp_path, 2**20):
        result = invoke("tune", *SIMULATED, *QUICK, *options)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert f"another process keeps outcomes in {tmp_path}" in result.err
    assert "In force now: (1, 3, 500)." in result.out  # as it was


def test_challenger_is_compared_and_never_acts(invoke: Invoke, tmp_path: Path) -> None:
    written = tmp_path / "why.json"
    nobody = invoke("why", "--shadow")
    assert nobody.code == 1
    options = ("--mode", "apply", "--seconds", 60, "--propose", "4,3,500", "--set", "challenger=network")
    assert "In force now: (4, 3, 500)." in invoke("tune", *SIMULATED, *QUICK, *options).out
    result = invoke("why", "--shadow", "--json", written)
    assert (result.code, result.err) == (0, "")
    assert "the challenger may not take over yet" in result.out
    shadow = json.loads(written.read_text())["shadow"]
    assert shadow["decisions"] + shadow["unknown"] >= 1
    assert shadow["may_take_over"] is False


@pytest.mark.parametrize("mode", ["advise", "apply"])
def test_model_against_itself_names_the_same(invoke: Invoke, tmp_path: Path, mode: str) -> None:
    """Before, a challenger was asked for one of several measurements while who only advises has a single look."""
    models = ("--model", "network", "--set", "challenger=network")
    invoke("tune", *SIMULATED, *QUICK, "--mode", mode, "--seconds", 60, *models, "--log", tmp_path / "log")
    asked = [
        line.observation
        for line in read_log(tmp_path / "log" / "decisions.jsonl")
        if line.observation.challenge is not None
    ]
    assert asked
    for observation in asked:
        assert observation.challenge is not None
        assert observation.proposal is not None
        assert observation.challenge.proposal.pool_tuple == observation.proposal.pool_tuple


def test_shadow_without_a_challenger_says_how_to_name_one(invoke: Invoke) -> None:
    invoke("tune", *SIMULATED, *QUICK, "--seconds", 5)
    assert "name one by `poolpilot tune --set challenger=FOLDER`" in invoke("why", "--shadow").out


def test_log_of_a_running_tuner_is_not_taken_away(invoke: Invoke, tmp_path: Path) -> None:
    with closing(DecisionLog(tmp_path, "a pool")):
        result = invoke("tune", *SIMULATED, *QUICK, "--seconds", 5, "--log", tmp_path)
    assert result.code == 1
    assert f"another tuner keeps its decisions in {tmp_path}: end it, or name another folder with --log" in result.err
    assert invoke("tune", *SIMULATED, *QUICK, "--seconds", 5, "--log", tmp_path).code == 0


@pytest.mark.parametrize("line", ["7", "[]", '{"observation": 7}'])
def test_why_counts_lines_of_a_log_that_are_damaged(invoke: Invoke, tmp_path: Path, line: str) -> None:
    log = tmp_path / "decisions.jsonl"
    log.write_text(f'{{"log": 1, "server": "a pool"}}\n{line}\n')
    result = invoke("why", tmp_path)
    assert (result.code, result.err) == (0, "")
    assert f"left out: 1 line of {log} that cannot be read" in result.out
    log.write_text(f"{line}\n")
    assert invoke("why", tmp_path).code == 1


def test_lease_is_not_given_away_by_a_question(invoke: Invoke) -> None:
    """Before, the server ended the tuner's connection while a service took its time, and what was next was refused."""
    given = ("S=/nowhere", "--mode", "apply", "--lease", "event", "--remote", "http://127.0.0.1:8750")
    result = invoke("tune", *given, "--set", "remote_deadline_s=15")
    assert result.code == 1
    assert "is silent for 15 s under lease_s 20" in result.err
    assert "is silent for" not in invoke("tune", *given, "--set", "remote_deadline_s=14").err
