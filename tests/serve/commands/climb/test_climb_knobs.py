"""The knobs that `--knob` names, and those that a backend does not have."""

import pytest

from poolpilot.env.climbing.knob_climb import SIZE_ALONE
from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.env.servers.curve import CurveServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.climb.climb_knobs import KnobName, check_curve, chosen_knobs, dry_run, ranges_text

POINTS = ((1, 100.0), (64, 600.0))


@pytest.mark.parametrize(
    ("named", "chosen"),
    [
        ([], SIZE_ALONE),
        (["pool_size"], SIZE_ALONE),
        (["timer_interval_ms"], ("timer_interval_ms",)),
        (["oversubscribe", "pool_size", "oversubscribe"], ("pool_size", "oversubscribe")),
        (["oversubscribe", "all"], CORE_KNOBS),
    ],
)
def test_knobs_come_once_and_the_size_first(named: list[str], chosen: tuple[str, ...]) -> None:
    assert chosen_knobs(KnobName(name) for name in named) == chosen


def test_every_knob_of_the_core_has_a_name() -> None:
    assert {name.value for name in KnobName} == {*CORE_KNOBS, "all"}


def test_curve_has_only_the_size() -> None:
    check_curve(SIZE_ALONE)
    with pytest.raises(SettingError, match="cannot climb timer_interval_ms: leave out --knob"):
        check_curve(("pool_size", "timer_interval_ms"))


def test_ranges_are_those_that_a_climb_may_try() -> None:
    server = CurveServer(POINTS)
    assert ranges_text(CORE_KNOBS, server) == "pool_size 1..128, oversubscribe 1..32, timer_interval_ms 1..1000"


def test_value_in_force_outside_the_range_is_refused_with_a_remedy() -> None:
    server = CurveServer(POINTS, initial=PoolTuple(4, 40, 500))
    assert ranges_text(SIZE_ALONE, server)
    with pytest.raises(SettingError, match=r"oversubscribe is 40, outside 1..32; set it inside that range first, or"):
        ranges_text(CORE_KNOBS, server)


def test_a_dry_run_names_the_trials_of_a_warm_climb() -> None:
    server = CurveServer(POINTS)
    assert dry_run(server, SIZE_ALONE, 60.0).startswith("Would climb for 60 s over pool_size 1..")
    said = dry_run(server, SIZE_ALONE, 60.0, trials=5)
    assert said.startswith(
        "Would try up to 5 configurations that a model names, oversubscribe and stall limit among them, and"
    )
