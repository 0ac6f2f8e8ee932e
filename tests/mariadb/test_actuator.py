"""What adds capacity is set first, what takes it away last."""

from dataclasses import replace

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.actuator import LEAST_STALL_LIMIT_MS, CallProcedure, in_order
from poolpilot.mariadb.grants import grants


@pytest.mark.parametrize(
    ("before", "after", "order"),
    [
        ((2, 3, 500), (16, 1, 500), ["pool_size", "oversubscribe"]),
        ((16, 1, 500), (2, 3, 500), ["oversubscribe", "pool_size"]),
        ((2, 3, 500), (1, 3, 10), ["timer_interval_ms", "pool_size"]),
        ((2, 3, 10), (16, 3, 500), ["pool_size", "timer_interval_ms"]),
        ((2, 3, 10), (2, 3, 10), []),
    ],
)
def test_order(before: tuple[int, int, int], after: tuple[int, int, int], order: list[str]) -> None:
    assert in_order(PoolTuple(*before), PoolTuple(*after)) == order


@pytest.mark.parametrize(("default_ms", "in_force_ms", "least_ms"), [(500, 500, 10), (5, 500, 5), (500, 7, 7)])
def test_procedure_narrows_the_ranges_to_what_it_takes(default_ms: int, in_force_ms: int, least_ms: int) -> None:
    """A climb of the timer went below, was refused by the procedure, and ended."""
    stock = KnobSpace.stock(2)
    timer = replace(stock.knobs["timer_interval_ms"], default=default_ms)
    server = replace(stock, knobs={**stock.knobs, timer.name: timer})
    narrowed = CallProcedure().narrowed(server, PoolTuple(2, 3, in_force_ms))
    assert narrowed.knobs[timer.name].low == least_ms
    assert {**narrowed.knobs, timer.name: timer} == server.knobs
    assert f"NOT BETWEEN {LEAST_STALL_LIMIT_MS} AND" in grants()["procedure"]


def test_grants_are_least_privilege_unless_asked_and_quote_accounts() -> None:
    printed = grants(tuner="t`x@10.0.0.1", sizes=(2, 64))
    assert list(printed) == ["observe", "procedure"]
    assert "`t``x`@`10.0.0.1`" in printed["observe"]
    assert "NOT BETWEEN 2 AND 64" in printed["procedure"]
    assert "CONNECTION ADMIN ON *.* TO `t``x`" not in "".join(printed.values())
    assert CallProcedure().name in printed["procedure"]
    asked = grants(tuner="t`x@10.0.0.1", plain=True)
    assert list(asked) == ["observe", "set_global"]
    assert "GRANT CONNECTION ADMIN ON *.* TO `t``x`@`10.0.0.1`" in asked["set_global"]


@pytest.mark.parametrize("name", ["`poolpilot`.`apply_pool`", "apply_pool", "pool-pilot.apply", "poolpilot.größe", ""])
def test_procedure_that_a_journal_could_not_name_is_refused_before_anything_is_set(name: str) -> None:
    """Before, a tuner set by it, and after a kill nobody could restore."""
    with pytest.raises(SettingError, match=r"write schema\.procedure, such as poolpilot\.apply_pool"):
        CallProcedure(name)
