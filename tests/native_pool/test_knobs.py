"""The climber of many knobs through its Python face: records, and settings that change while it runs."""

import json
import math

import pytest

from poolpilot.native_pool import KnobClimber, SpectralSettings

RECORD = {"sample", "mode", "knobs", "throughput", "duration_s", "period_s", "decision", "reason"}
STATE = {"value", "next_value", "middle", "wave_low", "wave_high", "ratio", "error"}
SETTINGS = SpectralSettings(hcm_hillclimbing_enabled=True, hcm_log_enabled=True, min_accepted_throughput=1.0)
START = [8, 16]


def made(settings: SpectralSettings = SETTINGS) -> KnobClimber:
    return KnobClimber(settings, [(1, 128, 0.02), (1, 64, 0.0)], START)


def pair(values: list[int]) -> float:
    """Requests a second: 1000 at (24, 8), fewer the farther away."""
    return 1000.0 * math.exp(-0.3 * math.log(values[0] / 24) ** 2 - 0.2 * math.log(values[1] / 8) ** 2)


def play(climber: KnobClimber, values: list[int], samples: int) -> list[int]:
    for _ in range(samples):
        values = climber.update(pair(values), 256.0, 0.01, values, 0.5)
    return values


def test_log_has_a_record_of_every_update() -> None:
    climber = made()
    play(climber, START, 200)
    log = climber.log()
    assert [record["sample"] for record in log] == list(range(201))
    assert all(set(record) == RECORD for record in log)
    assert all(set(state) == STATE for record in log for state in record["knobs"])
    assert log[-1] == climber.latest
    assert (log[0]["mode"], log[-1]["mode"]) == ("USUAL", "OPTIMIZED")
    assert {"start", "wave", "move", "hold"} <= {record["decision"] for record in log}
    assert [state["value"] for state in log[0]["knobs"]] == START
    assert log[-1]["duration_s"] == 0.5
    json.dumps(log, allow_nan=False)


def test_without_the_log_the_latest_record_is_kept() -> None:
    climber = made(SETTINGS.replaced(hcm_log_enabled=False))
    play(climber, START, 3)
    assert climber.log() == []
    assert climber.latest["sample"] == 3


def test_settings_and_prices_change_while_it_runs() -> None:
    climber = made()
    values = play(climber, START, 10)
    climber.adopt(SETTINGS.replaced(hcm_period=5.0), [2.0, 0.0])
    assert (climber.settings.hcm_period, climber.period_s) == (5.0, 5.0)
    values = play(climber, values, 1)
    assert climber.latest["reason"] == "the settings have changed"
    assert play(climber, values, 400)[0] <= 2


def test_prices_of_other_than_all_knobs_are_refused() -> None:
    climber = made()
    with pytest.raises(ValueError, match="a price for each"):
        climber.adopt(SETTINGS, [0.1])


def test_absent_throughput_is_dropped_and_recorded() -> None:
    climber = made()
    assert climber.update(None, 1.0, 0.1, START) == climber.values
    assert (climber.latest["decision"], climber.latest["throughput"]) == ("drop", None)
