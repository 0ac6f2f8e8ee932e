"""The minutes are dealt to what there is, and what is left out is said with its reason."""

from typing import Any

import pytest

from poolpilot.errors import SettingError
from poolpilot.pipelines.learn import learning_plan
from poolpilot.pipelines.learn.learn_settings import LearnSettings
from poolpilot.pipelines.learn.learning_plan import LearningPlan


def plan(monkeypatch: pytest.MonkeyPatch, absent: list[str] | None = None, **given: Any) -> LearningPlan:
    monkeypatch.setattr(learning_plan, "missing", lambda: absent or [])
    return LearningPlan.of(LearnSettings.load(None, given))


def test_two_minutes_are_for_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    found = plan(monkeypatch, minutes=2.0)
    assert (found.rounds, list(found.seconds)) == (1, ["simulated"])
    assert found.seconds["simulated"] == pytest.approx(0.8 * 120.0)
    assert set(found.left_out) == {"native", "mariadb"}
    assert "not from native: it takes 10 minutes at least" in found.in_words()


def test_an_hour_is_four_rounds_with_a_share_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    found = plan(monkeypatch, minutes=60.0)
    assert (found.rounds, list(found.seconds)) == (4, ["native", "simulated", "mariadb"])
    assert sum(found.seconds.values()) + found.calibrating_s < 15.0 * 60.0
    assert [found.minutes_after(number, LearnSettings(minutes=60.0)) for number in (1, 4)] == [15.0, 60.0]


def test_what_is_not_installed_is_left_out_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = ["mariadb-server-core"]
    assert "not installed: mariadb-server-core" in plan(monkeypatch, absent, minutes=60.0).left_out["mariadb"]
    with pytest.raises(SettingError, match="apt-get install mariadb-server-core"):
        plan(monkeypatch, absent, minutes=60.0, servers=("mariadb",))
    assert list(plan(monkeypatch, absent, minutes=1.0, servers=("native",)).seconds) == ["native"]


def test_a_server_of_ones_own_has_a_share_where_leave_is_given_whatever_servers_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {"minutes": 5.0, "servers": ("simulated",), "dsn": "h=db1"}
    found = plan(monkeypatch, **given, execute=True)
    assert found.seconds == {"simulated": pytest.approx(60.0), "own": pytest.approx(180.0)}
    assert "simulated 1.0 min, your own server 3.0 min" in found.in_words()
    found = plan(monkeypatch, **given)
    assert set(found.seconds) == {"simulated"}
    assert found.left_out["own"] == "nothing is set there without --execute"
