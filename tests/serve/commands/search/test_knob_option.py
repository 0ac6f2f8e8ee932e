"""Knobs as the user names them: ranges, parts of ranges and lists, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.serve.commands.search.knob_option import KnobOption, range_of, space_of

KNOBS = KnobSpace.stock(4)
FIRST = KNOBS.default_tuple()


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("pool_size", KnobOption("pool_size")),
        ("pool_size=1,2,4", KnobOption("pool_size", values=(1.0, 2.0, 4.0))),
        ("pool_size=8", KnobOption("pool_size", values=(8.0,))),
        ("idle_timeout_s=0.5..2", KnobOption("idle_timeout_s", limits=(0.5, 2.0))),
    ],
)
def test_knob_is_a_name_a_part_of_its_range_or_a_list(text: str, option: KnobOption) -> None:
    assert KnobOption.parse(text) == option


@pytest.mark.parametrize("text", ["pool_size=", "pool_size=a", "pool_size=1,,2", "pool_size=1..", "pool_size=1..b"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="a knob is named as NAME"):
        KnobOption.parse(text)


def test_only_what_was_named_is_drawn() -> None:
    options = [KnobOption.parse(text) for text in ("pool_size=2,16", "timer_interval_ms=20..40", "oversubscribe")]
    space = space_of(options, KNOBS, FIRST)
    rng = np.random.default_rng(0)
    drawn = [space.draw(rng) for _ in range(300)]
    assert {one.pool_size for one in drawn} == {2, 16}
    assert {one.timer_interval_ms for one in drawn} == set(range(20, 41))
    assert max(one.oversubscribe for one in drawn) > 500
    assert {one.idle_timeout_s for one in drawn} == {FIRST.idle_timeout_s}
    assert range_of(space) == {"pool_size": "2, 16", "timer_interval_ms": "20..40", "oversubscribe": "1..1000"}


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["speed"], "no knob 'speed'; it has pool_size"),
        (["speed=1..2"], "no knob 'speed'; it has pool_size"),
        (["pool_size", "pool_size=1,2"], "name every knob to vary once"),
        (["pool_size=1..129"], "outside the allowed range 1..128"),
        (["pool_size=1,300"], "outside the allowed range 1..128"),
        (["pool_size=nan"], "outside the allowed range"),
        (["pool_size=1.5..3"], "must be a whole number"),
        (["pool_size=8..2"], "must not fall"),
        (["pool_size=8", "oversubscribe=3..3"], "nothing to search among: pool_size 8, oversubscribe 3 alone"),
    ],
)
def test_knobs_that_cannot_be_searched_are_refused(texts: list[str], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        space_of([KnobOption.parse(text) for text in texts], KNOBS, FIRST)


def test_knobs_that_cannot_change_live_are_held_with_their_reason() -> None:
    marked = KnobSpace(
        4,
        {
            **KNOBS.knobs,
            "oversubscribe": replace(KNOBS.knobs["oversubscribe"], restart_only=True),
            "idle_timeout_s": replace(KNOBS.knobs["idle_timeout_s"], per_session=True),
        },
    )
    held = [KnobOption("oversubscribe"), KnobOption("idle_timeout_s", limits=(1.0, 2.0))]
    space = space_of([KnobOption("pool_size"), *held], marked, FIRST)
    assert space.names == ("pool_size",)
    assert space.held == {"oversubscribe": "needs a restart", "idle_timeout_s": "each session holds its own value"}
    with pytest.raises(SettingError, match="no knob to vary: oversubscribe needs a restart; idle_timeout_s each"):
        space_of(held, marked, FIRST)
