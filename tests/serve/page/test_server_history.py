"""What is remembered of a server: its latest decisions whatever the log holds, and never more than so many."""

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.serve.page.conftest import RECORDED, WrittenLog
from tests.serve.tuner.conftest import Drive, falling

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.page import server_history
from poolpilot.serve.page.page_row import LONGEST_CLASS, MOST_CLASSES
from poolpilot.serve.page.server_history import ServerHistory
from poolpilot.serve.tuner.decision_log import read_log
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Proposal, Reading

Written = Callable[..., WrittenLog]


def followed(folder: Path) -> ServerHistory:
    history = ServerHistory("key", folder)
    history.follow()
    return history


def test_rows_say_what_was_decided(written: Written, tmp_path: Path) -> None:
    log = written()
    log.turn(80)
    history = followed(tmp_path)
    assert (history.name, history.mode, history.unreadable) == ("db1", "apply", 0)
    assert [row.number for row in history.rows] == list(range(1, 81))
    for row, observation, decision in zip(history.rows, log.drive.observations, log.drive.decisions, strict=True):
        assert (row.state, row.reason, row.unix_s) == (decision.state, decision.reason, observation.unix_s)
        assert observation.in_force is not None
        assert observation.reading is not None
        assert (row.in_force, row.incumbent) == (observation.in_force.core, decision.incumbent.core)
        assert row.throughput_per_s == observation.reading.throughput_per_s


def test_expected_gain_is_a_share(written: Written, tmp_path: Path) -> None:
    log = written()
    log.turn(40)
    gains = [row.expected_gain for row in followed(tmp_path).rows if row.expected_gain is not None]
    assert gains
    assert gains == pytest.approx([0.6487] * len(gains), abs=1e-3)


def test_interval_of_what_is_promised_is_shown_where_it_is_told(written: Written, tmp_path: Path) -> None:
    log = written()
    proposal = Proposal(pool_tuple=PoolTuple(4, 3, 500), abstained=False, gain=0.2, reason="told so")
    log.turn(1, proposal=proposal)
    log.turn(1, proposal=proposal.model_copy(update={"gain_low": -0.1, "gain_high": 0.4}))
    log.turn(1, proposal=None)
    history = followed(tmp_path)
    without, told, later = history.rows
    assert (without.expected_low, without.expected_high) == (None, None)
    assert told.expected_low == pytest.approx(math.expm1(-0.1))
    assert told.expected_high == pytest.approx(math.expm1(0.4))
    assert later.expected_gain is None
    assert history.asked is told


def test_latency_is_told_by_class_and_by_what_it_is(written: Written, tmp_path: Path) -> None:
    log = written()
    reading = Reading(goodput_per_s=9.0, throughput_per_s=9.0, seconds=5.0, latency_ms=2.0)
    tails_ms = {f"{number}{'W' * 50}": float(number + 1) for number in range(9)}
    for changes in ({}, {"by_time": True}, {"tails_ms": {"short": 1.0, "long": 4.0}}, {"tails_ms": tails_ms}):
        log.turn(1, reading=reading.model_copy(update=changes))
    plain, timed, classes, many = followed(tmp_path).rows
    assert (plain.tails_ms, plain.by_time, timed.by_time) == (None, False, True)
    assert (classes.tails_ms, classes.by_time) == ({"short": 1.0, "long": 4.0}, False)
    assert many.tails_ms is not None
    assert len(many.tails_ms) == MOST_CLASSES
    assert {len(name) for name in many.tails_ms} == {LONGEST_CLASS}
    assert "tails_ms" not in plain.as_dict()
    assert classes.as_dict()["tails_ms"] == {"short": 1.0, "long": 4.0}


def test_roll_backs_are_counted_and_marked(written: Written, tmp_path: Path) -> None:
    log = written(drive=Drive(falling, wanted=PoolTuple(16, 3, 500)))
    log.turn(200)
    entered = Counter(log.drive.states())
    history = followed(tmp_path)
    assert entered[State.ROLL_BACK] >= 1
    assert history.entered == entered
    assert sum(row.entered and row.state is State.ROLL_BACK for row in history.rows) == entered[State.ROLL_BACK]
    assert history.lost_requests == pytest.approx(log.drive.memory.lost_requests)
    assert history.lost_requests > 0.0


def test_connection_that_is_lost_in_mid_try_is_no_roll_back(written: Written, tmp_path: Path) -> None:
    """Before, the way back was shown and counted as a trial that was found worse."""
    log = written()
    log.lose()
    history = followed(tmp_path)
    *_, tried, first, second, back, after = history.rows
    assert (tried.state, back.state) == (State.TRIAL, State.ROLL_BACK)
    assert back.in_force != back.incumbent
    rows = (tried, first, second, back, after)
    assert [row.lost_trial for row in rows] == [False, True, True, True, False]
    assert [row.entered for row in rows] == [True, True, False, False, True]
    assert ["lost_trial" in row.as_dict() for row in rows] == [False, True, True, True, False]
    assert (history.entered[State.TRIAL], history.entered[State.ROLL_BACK]) == (1, 0)


def test_connection_that_is_lost_on_the_way_back_hides_no_roll_back(written: Written, tmp_path: Path) -> None:
    log = written(drive=Drive(falling, wanted=PoolTuple(16, 3, 500)))
    log.until(State.ROLL_BACK)
    log.turn(1, in_force=None, reading=None)
    log.turn()
    history = followed(tmp_path)
    assert [row.lost_trial for row in history.rows] == [False] * len(history.rows)
    assert history.entered[State.ROLL_BACK] == 1


def test_connection_that_is_lost_between_tries_ends_none(written: Written, tmp_path: Path) -> None:
    log = written()
    log.turn()
    log.turn(1, in_force=None, reading=None)
    log.turn()
    assert [row.lost_trial for row in followed(tmp_path).rows] == [False] * 3


def test_what_stood_in_the_log_at_first_is_no_event_of_now(written: Written, tmp_path: Path) -> None:
    log = written()
    log.until(State.TRIAL)
    history = followed(tmp_path)
    assert (history.entered[State.TRIAL], history.entered_since.total()) == (1, 0)
    log.until(State.VERIFY)
    log.until(State.TRIAL)
    history.follow()
    assert (history.entered[State.TRIAL], history.entered_since[State.TRIAL]) == (2, 1)


def test_log_that_comes_later_is_read_to_its_end_before_anything_counts(written: Written, tmp_path: Path) -> None:
    history = ServerHistory("key", tmp_path / "later")
    history.follow()
    log = written("later")
    log.until(State.TRIAL)
    history.follow()
    assert (history.entered[State.TRIAL], history.entered_since.total()) == (1, 0)


def test_open_circuit_that_a_second_tuner_goes_on_with_was_opened_once(written: Written, tmp_path: Path) -> None:
    for number in range(2):
        log = written()
        log.drive.memory = log.drive.memory.but(
            state=State.OPEN_CIRCUIT, paused=State.OPEN_CIRCUIT, wait_until_s=1_000.0
        )
        log.turn(3 - number)
        log.log.close()
    history = followed(tmp_path)
    assert {row.state for row in history.rows} == {State.OPEN_CIRCUIT}
    assert [row.began for row in history.rows] == [False] * 3 + [True, False]
    assert history.entered[State.OPEN_CIRCUIT] == 1


def test_what_tuners_before_have_lost_is_added_up_as_their_tries_are(written: Written, tmp_path: Path) -> None:
    lost = []
    for _ in range(2):
        log = written(drive=Drive(falling, wanted=PoolTuple(16, 3, 500)))
        log.turn(200)
        lost.append(log.drive.memory.lost_requests)
        log.log.close()
    assert min(lost) > 0.0
    assert followed(tmp_path).lost_requests == pytest.approx(sum(lost))


def test_what_it_would_try_is_told_where_it_only_advises() -> None:
    assert {row.would for row in followed(RECORDED / "db3").rows} == {None, (2, 3, 500)}


def test_only_what_says_something_new_is_marked_so() -> None:
    rows = followed(RECORDED / "db3").rows
    new = [row.reason for row in rows if row.says_new]
    assert len(new) == len(set(new)) < len(rows)
    assert not any(reason.startswith("watching:") for reason in new[1:])


def test_what_goes_on_beside_the_pool_is_new_once(written: Written, tmp_path: Path) -> None:
    """Before, every window of a backup was new, since its reason says for how long that has gone on."""
    log = written()
    for seconds in (37, 42, 120):
        backup = Hindrance(f"session 12 of dump@db1 backs up: SELECT for {seconds} s")
        log.say(f"nothing is changed now: {backup}", backup)
    lag = Hindrance("replication is 30 s behind, more than 10 s")
    log.say(f"nothing is changed now: {lag}", lag)
    history = followed(tmp_path)
    assert [row.says_new for row in history.rows] == [True, False, False, True]
    assert history.rows[2].reason.endswith("for 120 s"), "what is shown keeps its numbers"


def test_restart_of_the_page_keeps_what_was_decided(written: Written, tmp_path: Path) -> None:
    log = written()
    history = followed(tmp_path)
    for _ in range(5):
        log.turn(7)
        history.follow()
    assert list(followed(tmp_path).rows) == list(history.rows)
    assert followed(tmp_path).feed != history.feed


def test_second_tuner_goes_on_where_the_first_ended(written: Written, tmp_path: Path) -> None:
    first = written()
    first.turn(4)
    first.log.close()
    written(server="db1 again").turn(3)
    history = followed(tmp_path)
    assert [row.began for row in history.rows] == [False] * 4 + [True] + [False] * 2
    assert history.name == "db1 again"


def test_never_more_than_so_many(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_history, "KEPT", 20)
    written().turn(50)
    history = followed(tmp_path)
    assert [row.number for row in history.rows] == list(range(31, 51))
    assert [row.number for row in history.after(0, 3)] == [31, 32, 33]
    assert [row.number for row in history.after(48, 10)] == [49, 50]
    assert [row.number for row in history.before(None, 2)] == [49, 50]
    assert [row.number for row in history.before(33, 10)] == [31, 32]
    assert [row.number for row in history.before(10**9, 1)] == [50]
    assert history.after(50, 10) == history.before(5, 10) == []


def test_what_was_overtaken_begins_anew(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = written(largest_bytes=5_000)
    log.turn()
    history = followed(tmp_path)
    feed = history.feed
    monkeypatch.setattr("poolpilot.serve.page.log_tail.MOST_BEFORE", 12_000)
    log.turn(80)
    history.follow()
    assert history.feed != feed
    assert history.latest is not None
    assert history.latest.unix_s == log.drive.observations[-1].unix_s
    assert len({row.unix_s for row in history.rows}) == len(history.rows) < 80
    assert history.entered_since <= Counter(log.drive.states())  # what is read again is not counted again


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "7",
        "{}",
        '{"log": 1}',
        '{"log": 1, "server": "db1", "memory": 3}',
        '{"observation": {}, "decision": {}}',
        '{"observation": 1, "decision": null}',
        100_000 * "[",
        "\udcff".encode(errors="surrogateescape").decode("latin-1"),
    ],
)
def test_line_that_is_no_decision_is_counted_and_left_out(written: Written, tmp_path: Path, line: str) -> None:
    log = written()
    log.turn(2)
    with log.log.path.open("a", encoding="latin-1") as file:
        file.write(f"{line}\n")
    log.turn(2)
    history = followed(tmp_path)
    assert (len(history.rows), history.unreadable) == (4, 1)


@pytest.mark.parametrize("name", ["unix_s", "at_s"])
def test_number_that_no_browser_reads_is_no_decision(written: Written, tmp_path: Path, name: str) -> None:
    log = written()
    log.turn(2)
    last = json.loads(log.log.path.read_text().splitlines()[-1])
    last["observation"][name] = "?"
    with log.log.path.open("a") as file:
        file.write(json.dumps(last).replace('"?"', "1e999") + "\n")
        file.write(json.dumps(last).replace('"?"', "NaN") + "\n")
    history = followed(tmp_path)
    assert (len(history.rows), history.unreadable) == (2, 2)


def test_long_texts_are_cut(written: Written, tmp_path: Path) -> None:
    log = written(server=5_000 * "n")
    log.say(5_000 * "r")
    history = followed(tmp_path)
    assert len(history.name) <= 200
    assert history.latest is not None
    assert len(history.latest.reason) <= 500


@pytest.mark.parametrize("name", ["db1", "db2", "db3"])
def test_recorded_logs_are_read_whole(name: str) -> None:
    history = followed(RECORDED / name)
    assert len(history.rows) == len(list(read_log(RECORDED / name / "decisions.jsonl"))) > 20
    assert history.unreadable == 0
