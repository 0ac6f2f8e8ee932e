"""The metrics: what a log says, as Prometheus reads it; and the board asks for nothing else."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.serve.page.conftest import RECORDED, WrittenLog
from tests.serve.tuner.conftest import Drive, falling, rising

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.page.followed_servers import FollowedServers
from poolpilot.serve.page.tuner_metrics import TunerMetrics
from poolpilot.serve.tuner.machine.decision import State

MANUAL = Path(__file__).parents[3] / "docs/live-page.md"
BOARD = Path(__file__).parents[3] / "docs/deploy/poolpilot-tuner-board.json"
ALERTS = BOARD.with_name("poolpilot-alerts.yml")

Values = dict[tuple[str, ...], float]


def metrics_of(folder: Path) -> Values:
    """What a page tells that has just begun."""
    servers = FollowedServers(folder)
    values = told_by(servers)
    servers.close()
    return values


def told_by(servers: FollowedServers) -> Values:
    """Values by the name of the metric and the values of its labels, in the order of the names of the labels."""
    with servers.followed() as histories:
        text = TunerMetrics(histories).text().decode()
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_they_say_what_the_log_does(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written()
    log.turn(60)
    values = metrics_of(tmp_path)
    observation, decision = log.drive.observations[-1], log.drive.decisions[-1]
    assert observation.in_force is not None
    assert observation.reading is not None
    states = {state: values["poolpilot_tuner_state", "db1", state] for state in State}
    assert states == {state: float(state is decision.state) for state in State}
    knobs = ("pool_size", "oversubscribe", "stall_limit_ms")
    assert tuple(values["poolpilot_tuner_in_force", knob, "db1"] for knob in knobs) == observation.in_force.core
    assert tuple(values["poolpilot_tuner_incumbent", knob, "db1"] for knob in knobs) == decision.incumbent.core
    assert values["poolpilot_tuner_throughput_per_second", "db1"] == observation.reading.throughput_per_s
    assert values["poolpilot_tuner_last_window_timestamp_seconds", "db1"] == observation.unix_s
    assert values["poolpilot_tuner_lost_requests", "db1"] == pytest.approx(log.drive.memory.lost_requests)
    assert 0.0 <= values["poolpilot_tuner_seconds_since_decision", "db1"] < 3600.0


def test_what_is_not_known_is_not_told(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written()
    log.turn(3)
    log.turn(1, in_force=None, reading=None)
    values = metrics_of(tmp_path)
    assert not any(name.startswith("poolpilot_tuner_throughput") for name, *_ in values)
    assert not any(name.startswith("poolpilot_tuner_in_force") for name, *_ in values)
    assert values["poolpilot_tuner_incumbent", "pool_size", "db1"] == 2.0


def test_roll_backs_are_counted(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written(drive=Drive(falling, wanted=PoolTuple(16, 3, 500)))
    log.turn()
    servers = FollowedServers(tmp_path)
    told_by(servers)
    log.until(State.ROLL_BACK)
    values = told_by(servers)
    servers.close()
    assert values["poolpilot_tuner_trials_total", "db1"] == 1.0
    assert values["poolpilot_tuner_roll_backs_total", "db1"] == 1.0


def test_try_that_a_lost_connection_ends_is_no_roll_back(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written()
    log.turn()
    servers = FollowedServers(tmp_path)
    told_by(servers)
    log.lose()
    values = told_by(servers)
    servers.close()
    assert values["poolpilot_tuner_trials_total", "db1"] == 1.0
    assert values["poolpilot_tuner_roll_backs_total", "db1"] == 0.0


def test_counters_of_a_process_begin_at_nothing(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    """Before, they began with what was in the log, which Prometheus took for new where it was less than before."""
    log = written()
    log.until(State.TRIAL)
    log.log.lost_lines = 3
    log.turn()
    servers = FollowedServers(tmp_path)
    assert {value for (name, *_), value in told_by(servers).items() if name.endswith("_total")} == {0.0}
    log.until(State.VERIFY)
    log.until(State.TRIAL)
    log.log.lost_lines = 2
    log.turn()
    values = told_by(servers)
    assert values["poolpilot_tuner_trials_total", "db1"] == 1.0
    assert values["poolpilot_tuner_lost_log_lines_total", "db1"] == 2.0
    with servers.followed() as (history,):  # the page goes on showing all of it
        assert (history.entered[State.TRIAL], history.lost_lines) == (2, 5)
    servers.close()
    again = {value for (name, *_), value in metrics_of(tmp_path).items() if name.endswith("_total")}
    assert again == {0.0}


@pytest.mark.parametrize("name", ['a"} 1\npoolpilot_tuner_state{server="x', "back\\slash", "ü\u2028<b>"])
def test_hostile_name_is_a_label_and_nothing_else(
    written: Callable[..., WrittenLog], tmp_path: Path, name: str
) -> None:
    written(server=name).turn()
    values = metrics_of(tmp_path)
    assert values["poolpilot_tuner_trials_total", name] == 0.0
    assert {labels[-1] for metric, *labels in values if metric == "poolpilot_tuner_lost_requests"} == {name}


def test_servers_of_one_name_have_series_of_their_own(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    for below in ("a", "b"):
        written(below, server="same").turn()
    values = metrics_of(tmp_path)
    assert {labels[-1] for name, *labels in values if name == "poolpilot_tuner_lost_requests"} == {
        "same (a)",
        "same (b)",
    }


def test_page_of_the_manual_names_every_metric() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    metrics = {
        name.removeprefix("poolpilot_tuner") for name, *_ in metrics_of(RECORDED) if not name.endswith("_created")
    }
    assert len(metrics) > 10
    assert [name for name in metrics if f"{name}`" not in text] == []


def test_board_asks_for_metrics_that_there_are() -> None:
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    asked = {target["expr"] for panel in board["panels"] for target in panel.get("targets", ())}
    names = set(re.findall(r"poolpilot_tuner_\w+", " ".join(asked)))
    assert len(names) > 8
    assert names <= {name for name, *_ in metrics_of(RECORDED)}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_board_is_alarmed_when_the_alert_is() -> None:
    """Before, the board called a tuner with windows of more than two minutes a dead one."""
    board, alerts = json.loads(BOARD.read_text(encoding="utf-8")), ALERTS.read_text(encoding="utf-8")
    (panel,) = (each for each in board["panels"] if "seconds_since_decision" in each["targets"][0]["expr"])
    alarm = re.search(r"poolpilot_tuner_seconds_since_decision > (\d+)", alerts)
    assert alarm is not None
    assert panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"] == int(alarm[1])


def test_metric_of_latency_says_what_it_is(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written(drive=Drive(rising, latency=lambda _: 2.0))
    log.turn()
    servers = FollowedServers(tmp_path)
    with servers.followed() as histories:
        text = TunerMetrics(histories).text().decode()
    servers.close()
    (told,) = (line for line in text.splitlines() if line.startswith("# HELP poolpilot_tuner_latency_seconds "))
    assert "95th percentile" in told
    assert "where clients report classes" in told
    assert "mean time" in told
    assert metrics_of(tmp_path)["poolpilot_tuner_latency_seconds", "db1"] == 0.002
