"""`poolpilot advise` as a DBA reads it, on a server made up: what it knows, what it does not, and what comes next."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.tuning.identity import ServerIdentity, ServerReached
from poolpilot.errors import ServerError
from poolpilot.featurizer.catalogue import THROTTLED_SHARE
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.champion import champion_folder, load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.commands.observe import advise_command
from poolpilot.serve.commands.observe.advice import workload_in_words
from poolpilot.serve.commands.presentation.verdict import OBSERVE_AGAIN

DSN = "S=/run/mysqld/mysqld.sock"


class MadeUpServer:
    """Has the ranges of a stock pool on some processors."""

    warnings = ("put extra_port=3307 under [mariadb] into its my.cnf",)
    session = SimpleNamespace(where="db1", over_extra_port=True)
    reached = ServerReached(ServerIdentity("db1", "/data/", "10.11", 1), "db1:3306")
    population = SimpleNamespace(connections=64)

    def __init__(self, cpus: int | None) -> None:
        self.cpus, self.knobs = cpus, replace(KnobSpace.stock(cpus or 2), processors=cpus)
        names = ("thread_pool_max_threads", "thread_stack")
        self.variables = {name: SimpleNamespace(value="65536") for name in names}

    def __enter__(self) -> "MadeUpServer":
        return self

    def __exit__(self, *_: object) -> None:
        """Has nothing to close."""


@pytest.fixture
def window(window_values: dict[str, Any]) -> Window:
    return replace(Window.from_dict(window_values), in_system=5.0, server_kind="mariadb")


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, window: Window) -> Callable[..., None]:
    """Puts a server of so many processors behind every DSN, and a prediction in the model's place, if one is given."""

    def arrange(cpus: int | None, prediction: Prediction | None = None) -> None:
        monkeypatch.setattr(advise_command, "connect", lambda *_: MadeUpServer(cpus))
        monkeypatch.setattr(advise_command, "observe", lambda *_: SimpleNamespace(window=window))
        if prediction is not None:
            advisor = Advisor.load(None, "mariadb")
            monkeypatch.setattr(advisor, "predict", lambda *_: prediction)
            monkeypatch.setattr(Advisor, "load", lambda *_: advisor)

    return arrange


def prediction_of(window: Window, size: int, low: float = 0.1, expected: float = 0.3) -> Prediction:
    chosen = replace(window.pool_tuple, pool_size=size)
    return Prediction(chosen, window.pool_tuple, False, ("the CPU is idle",), "digest", expected, low, expected + 0.2)


@pytest.mark.parametrize("cpus", [1, 4, 16, 64])
def test_known_curves_answer_on_any_number_of_processors(
    invoke: Callable[..., Any], on: Callable[..., None], cpus: int, tmp_path: Path
) -> None:
    on(cpus)
    result = invoke("advise", DSN, "--json", tmp_path / "advice.json")
    assert (result.code, result.err) == (0, "")
    advice = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))
    assert advice["prediction"]["model_digest"] in {load_curves().digest, load_champion(kind="mariadb").digest}
    assert "processors only" not in result.out
    abstained = advice["prediction"]["abstained"]
    assert (advice["prediction"]["expected_gain"] is None) == abstained
    assert bool(advice["next_steps"]) or not abstained


@pytest.mark.parametrize("cpus", [1, 4, 16])
def test_on_processors_that_a_network_has_not_learned_from_there_is_no_advice_and_the_next_step(
    invoke: Callable[..., Any], on: Callable[..., None], cpus: int, tmp_path: Path
) -> None:
    on(cpus)
    result = invoke("advise", DSN, "--model", "network", "--json", tmp_path / "advice.json")
    said = " ".join(result.out.replace("│", " ").split())
    assert (result.code, result.err) == (0, "")
    assert "leave it" not in said
    assert (
        f"no advice, because the model has learned from servers of 2 processors only, and this one has {cpus}" in said
    )
    assert "it would need records of servers like this one" in said
    for absent in ("expected", "worst case", "looks most like", "SET GLOBAL"):
        assert absent not in said
    lines = [f"poolpilot climb {DSN} --warm --execute", f"poolpilot climb {DSN} --sweep --execute"]
    assert set(lines) <= set(result.out.splitlines())
    advice = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))
    assert (advice["prediction"]["verdict"], advice["prediction"]["abstained"]) == ("no advice", True)
    assert (advice["prediction"]["expected_gain"], advice["similar"]) == (None, None)
    assert (advice["next_steps"], advice["statements"], advice["fragment"]) == (lines, [], [])


def test_where_processors_cannot_be_seen_there_is_no_advice_but_the_line_that_names_them(
    invoke: Callable[..., Any], on: Callable[..., None], tmp_path: Path
) -> None:
    on(None)
    result = invoke("advise", DSN, "--json", tmp_path / "advice.json")
    said = " ".join(result.out.replace("│", " ").split())
    assert (result.code, result.err) == (0, "")
    assert "no advice, because the processors of the server are not known: it runs on another host" in said
    assert "statements a second to an unknown number of processors" in said
    assert f"poolpilot advise {DSN} --cpus N" in result.out.splitlines()
    assert json.loads((tmp_path / "advice.json").read_text())["request"]["limits"]["cpus"] is None
    again = invoke("advise", "--windows", tmp_path / "advice.json")
    assert "'cpus', the processors of the server, a whole number in 1..4096, is not there" in again.err


@pytest.mark.parametrize("cpus", [0, 4097, -1])
def test_processors_out_of_range_are_refused_with_the_range(invoke: Callable[..., Any], cpus: int) -> None:
    result = invoke("advise", DSN, "--cpus", cpus)
    assert (result.code, result.err.count("\n"), result.out) == (1, 1, "")
    assert f"setting 'cpus': 'cpus' is {cpus}; a server has a whole number of processors in 1..4096" in result.err


def test_wrong_network_is_refused_before_anybody_connects(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before, who could not reach the server was told of that first."""
    monkeypatch.setattr(advise_command, "connect", lambda *_: pytest.fail("connected"))
    for folder, said in ((tmp_path, "name another folder with --model"), (champion_folder(), "kind 'native'")):
        result = invoke("advise", DSN, "--model", folder)
        assert (result.code, result.err.count("\n"), result.out) == (1, 1, "")
        assert str(folder) in result.err
        assert said in result.err


def test_processors_come_from_the_environment_and_the_file_too(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[tuple[Any, ...]] = []

    def connected(*given: Any) -> MadeUpServer:
        told.append(given)
        raise ServerError("is not there")

    monkeypatch.setattr(advise_command, "connect", connected)
    (tmp_path / "advise.toml").write_text("cpus = 16\n")
    invoke("advise", DSN, "--config", tmp_path / "advise.toml")
    monkeypatch.setenv("POOLPILOT_ADVISE_CPUS", "24")
    invoke("advise", DSN, "--config", tmp_path / "advise.toml")
    invoke("advise", DSN, "--cpus", 32)
    assert [given[3] for given in told] == [16, 24, 32]


def test_the_next_step_names_the_defaults_file_and_is_fit_for_a_shell(
    invoke: Callable[..., Any], on: Callable[..., None], tmp_path: Path
) -> None:
    on(16)
    result = invoke("advise", "h=db1", "--defaults-file", tmp_path / "my own.cnf")
    assert f"poolpilot climb h=db1 --defaults-file '{tmp_path}/my own.cnf' --sweep --execute" in result.out.splitlines()


def test_brackets_of_a_warning_are_printed(invoke: Callable[..., Any], on: Callable[..., None]) -> None:
    on(16)
    assert "Warning: put extra_port=3307 under [mariadb] into its my.cnf\n" in invoke("advise", DSN).out


def test_to_leave_it_is_said_where_that_is_known(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window, tmp_path: Path
) -> None:
    on(2, prediction_of(window, window.pool_tuple.pool_size, expected=0.0))
    result = invoke("advise", DSN, "--json", tmp_path / "advice.json")
    advice = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))
    assert f"leave it at {window.pool_tuple}" in result.out
    assert "no advice" not in result.out
    assert (advice["prediction"]["verdict"], advice["next_steps"]) == ("leave it", [])


def test_without_advice_the_constant_is_named_that_may_be_set_untried(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window, tmp_path: Path
) -> None:
    on(2, replace(prediction_of(window, window.pool_tuple.pool_size), abstained=True))
    result = invoke("advise", DSN, "--json", tmp_path / "advice.json")
    advice = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))
    assert advice["neutral"].startswith("(16, 3, 10) over the default gained")
    assert "untried" in result.out
    assert f"poolpilot climb {DSN} --warm --execute" in advice["next_steps"]


@pytest.mark.parametrize("cpus", [1, 4, 16, 64])
def test_without_advice_on_other_processors_known_curves_name_a_constant(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window, cpus: int, tmp_path: Path
) -> None:
    on(cpus, replace(prediction_of(window, window.pool_tuple.pool_size), abstained=True))
    result = invoke("advise", DSN, "--json", tmp_path / "advice.json")
    said = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))["neutral"]
    assert f"loses least of all constants on {cpus} processor" in said
    assert "simulated" in said
    assert "untried" in result.out


def test_on_a_machine_larger_than_any_known_one_that_is_said_and_no_constant_named(
    invoke: Callable[..., Any], on: Callable[..., None], tmp_path: Path
) -> None:
    on(256)
    invoke("advise", DSN, "--json", tmp_path / "advice.json")
    advice = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))
    assert "the known workloads ran on 1 to 128 processors, and this server has 256" in advice["prediction"]["reasons"]
    assert advice["neutral"] is None


def test_while_a_backup_runs_only_another_look_is_named(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on(2)
    disturbed = replace(window, disturbances=(Hindrance("session 9 of app@db2 backs up: BACKUP STAGE for 3 s"),))
    monkeypatch.setattr(advise_command, "observe", lambda *_: SimpleNamespace(window=disturbed))
    result = invoke("advise", DSN, "--json", tmp_path / "advice.json")
    advice = json.loads((tmp_path / "advice.json").read_text(encoding="utf-8"))
    said = " ".join(result.out.replace("│", " ").split())
    assert "no advice, because what is seen does not last: session 9 of app@db2 backs up" in said
    assert (advice["prediction"]["verdict"], advice["neutral"]) == ("no advice", None)
    assert advice["next_steps"] == [f"poolpilot advise {DSN}"]
    assert OBSERVE_AGAIN in result.out
    assert "--warm" not in result.out


def test_what_a_rule_advises_is_not_estimated_and_its_trial_is_named(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window
) -> None:
    chosen = replace(window.pool_tuple, pool_size=16)
    on(2, Prediction(chosen, window.pool_tuple, False, ("40 requests queue while processors idle",), "digest"))
    result = invoke("advise", DSN)
    said = " ".join(result.out.replace("│", " ").split())
    assert "expected not estimated" in said
    assert "40 requests queue while processors idle" in said
    assert "SET GLOBAL thread_pool_size = 16;" in result.out
    assert f"poolpilot climb {DSN} --warm --execute" in result.out.splitlines()


def test_a_change_that_is_sure_to_win_is_told_with_its_price_and_lines(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window
) -> None:
    on(2, prediction_of(window, 16))
    out = invoke("advise", DSN).out
    for shown in ("(16, 3, 500)", "+35 % requests in time (+11 % to +65 %)", "SET GLOBAL thread_pool_size = 16;"):
        assert shown in out
    assert "thread_pool_size = 16\n" in out.partition("[mariadb]")[2]
    assert "--execute" not in out


def test_a_change_that_may_lose_says_so_and_how_to_find_out(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window
) -> None:
    on(2, prediction_of(window, 16, low=-0.7))
    out = invoke("advise", DSN).out
    assert "may also lose" in out
    assert f"poolpilot climb {DSN} --sweep --execute\n" in out
    assert "SET GLOBAL thread_pool_size = 16;" in out


def test_no_gain_of_hundreds_is_printed(invoke: Callable[..., Any], on: Callable[..., None], window: Window) -> None:
    on(2, prediction_of(window, 16, low=5.26, expected=6.57))
    said = " ".join(invoke("advise", DSN).out.replace("│", " ").split())
    assert "more than 10 times the requests in time: almost nothing gets through in time today" in said
    assert "713" not in said


def test_a_similar_workload_is_not_taken_for_memory(
    invoke: Callable[..., Any], on: Callable[..., None], window: Window
) -> None:
    on(2, prediction_of(window, 16))
    out = invoke("advise", DSN).out
    labels = [line.split("│")[1].strip() for line in out.splitlines() if line.startswith("│")]
    assert "similar workload" in labels
    assert not [label for label in labels if "memor" in label or "remember" in label]


BUSY = {"connections": 13.0, "queue_length_mean": 0.0, "queue_length": 0.0, "utilisation": 0.5}


def words_of(window: Window, in_system: float, **features: float) -> str:
    profile = replace(window.profile, features={**window.profile.features, **BUSY, **features})
    return "\n".join(workload_in_words(replace(window, profile=profile, in_system=in_system), 2))


@pytest.mark.parametrize(
    ("in_system", "features"),
    [
        (2.0, {"utilisation": 0.93}),
        (2.0, {"queue_length_mean": 7.8}),
        (2.0, {"utilisation": 0.93, "queue_length_mean": 7.8}),
        (11.0, {}),
    ],
)
def test_a_server_that_is_busy_or_queues_is_not_said_to_keep_up(
    window: Window, in_system: float, features: dict[str, float]
) -> None:
    said = words_of(window, in_system, **features)
    assert "the server, not its clients, sets the pace" in said
    assert "keeps up" not in said


def test_a_server_that_idles_keeps_up(window: Window) -> None:
    assert "the server keeps up with its clients" in words_of(window, 2.0)


def test_never_more_connections_wait_than_there_are(window: Window) -> None:
    said = words_of(window, 13.6)
    assert "13 connections send" in said
    assert "13.6" not in said
    assert "all connections wait for an answer at any moment" in said
    assert "4.0 of the connections wait for an answer at any moment" in words_of(window, 4.0)


def test_what_the_server_shows_beside_its_pool_is_said_where_it_matters(window: Window) -> None:
    indicators = {
        **{"select_share": 0.8, "update_share": 0.196, "call_share": 0.004},
        **{"row_lock_wait_us_per_request": 3200.0, "events_file_us_per_request": 2.0},
    }
    said = "\n".join(workload_in_words(replace(window, indicators=indicators), 2))
    assert "of the statements counted by kind 80 % SELECT, 20 % UPDATE\n" in said
    assert "a statement waits 3.20 ms for rows that others hold" in said
    assert "for files" not in said
    assert "counted by kind" not in "\n".join(workload_in_words(window, 2))


def test_quota_that_is_used_up_is_said_with_what_helps(window: Window) -> None:
    profile = replace(window.profile, features={**window.profile.features, "cpus": 0.4, "utilisation": 0.98})
    used_up = replace(window, profile=profile, indicators={THROTTLED_SHARE: 80 / 91})
    said = "\n".join(workload_in_words(used_up, 0.4))
    assert "statements a second to 0.4 processors\n" in said
    assert "the server uses 98 % of the processor time" in said
    assert "its CPU quota is used up in 88 % of its periods" in said
    assert "quota" not in "\n".join(workload_in_words(window, 0.4))


def test_the_next_step_knows_what_was_said_of_the_server(invoke: Callable[..., Any], on: Callable[..., None]) -> None:
    """Before, a climb by the line that was printed did not know the processors, and abstained where it should try."""
    on(16)
    result = invoke("advise", "h=db1", "--cpus", 16, "--min-rows-share", 0.6)
    assert "poolpilot climb h=db1 --cpus 16 --min-rows-share 0.6 --warm --execute" in result.out.splitlines()


@pytest.mark.parametrize(("in_system", "says"), [(3.0, "poolpilot check"), (0.0, "no client sent anything")])
def test_where_nothing_begins_while_statements_run_the_diagnosis_is_named(
    invoke: Callable[..., Any],
    on: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    in_system: float,
    says: str,
) -> None:
    """Before, clients that hung behind a report were told of as `no client sent anything`."""
    on(2)
    stands = SimpleNamespace(throughput_per_s=0.0, in_system=in_system)
    monkeypatch.setattr(advise_command, "observe", lambda *_: SimpleNamespace(window=stands))
    result = invoke("advise", DSN)
    assert result.code == 1
    assert says in result.err
    assert result.err.count("\n") == 1
