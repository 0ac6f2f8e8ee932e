"""Families of the test server repeat themselves, keep apart what is held out, and name what they want."""

from collections import Counter

import pytest

from poolpilot.env.workloads.light_load import SHARES
from poolpilot.errors import SettingError
from poolpilot.lab.sealed_sql_families import SEALED
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload
from poolpilot.lab.sysbench_families import FAMILIES, draw_workload, named_workload, workload_set
from poolpilot.lab.sysbench_load import SCRIPTS, STOCK_PREFIX


def test_at_least_ten_families_and_forty_cells() -> None:
    assert len(FAMILIES) >= 10
    planned = workload_set(1, {"train": 2, "validation": 2, "test": 2})
    assert len(planned) >= 40
    assert Counter(plan.split for plan in planned).keys() == {"train", "validation", "test"}


def test_same_seed_draws_the_same_and_another_one_another() -> None:
    for family in FAMILIES.values():
        assert draw_workload(family, 3, 1) == draw_workload(family, 3, 1)
    assert any(
        draw_workload(family, 3, 1).classes != draw_workload(family, 4, 1).classes for family in FAMILIES.values()
    )


def test_training_and_validation_have_short_requests_beside_long_ones_of_another_kind() -> None:
    queries: dict[str, set[str]] = {"train": set(), "validation": set(), "test": set()}
    for family in FAMILIES.values():
        for sql_class in draw_workload(family, 1, 0).classes:
            if sql_class.script == "analytic":
                queries[family.split].add(str(sql_class.options["query"]))
    assert len(queries["train"]) >= 3
    assert queries["validation"]
    assert not queries["train"] & queries["validation"]


def test_sealed_families_hold_what_no_other_family_has() -> None:
    sealed = {name for name, family in FAMILIES.items() if family.split == "test"}
    assert sealed == {family.name for family in SEALED}
    assert len(sealed) >= 6
    known = {ingredients(draw_workload(family, 1, 0)) for name, family in FAMILIES.items() if name not in sealed}
    for name in sealed:
        assert ingredients(draw_workload(FAMILIES[name], 1, 0)) not in known


def ingredients(workload: SqlWorkload) -> tuple[object, ...]:
    """What a workload is made of, whatever the numbers."""
    classes = sorted(
        (one.script, sorted(one.options), one.think_ms > 0.0 or one.share_by == "pauses", one.burst_period_s > 0.0)
        for one in workload.classes
    )
    return (str(classes), workload.dataset, workload.log_bin, workload.slow_disk_us, workload.side)


def test_held_out_short_beside_long_has_64_connections_and_pauses() -> None:
    for number in range(5):
        workload = draw_workload(FAMILIES["joins_beside"], 7, number)
        short = next(sql_class for sql_class in workload.classes if sql_class.name == "short")
        assert workload.connections == 64
        assert short.think_ms > 0.0
        assert workload.objective.min_share.keys() == {"long"}


def test_every_class_counts_and_some_have_targets() -> None:
    for family in FAMILIES.values():
        workload = draw_workload(family, 1, 0)
        assert workload.objective.targets_ms
        assert set(workload.objective.weights) == {sql_class.name for sql_class in workload.classes}


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_about_every_third_family_is_of_light_or_half_load(split: str) -> None:
    families = [family for family in FAMILIES.values() if family.split == split]
    light = [one for one in families if all(lightly(each) for each in draw_workload(one, 1, 0).classes)]
    assert len(light) / len(families) == pytest.approx(1 / 3, abs=0.06)


def lightly(one: SqlClass) -> bool:
    return one.think_ms >= 100.0 or one.capacity_share > 0.0 or 0.0 < one.rate_per_s < 1200.0


def test_bursts_are_offered_the_share_that_was_drawn_and_a_tenth_of_it_between() -> None:
    steady, burst = draw_workload(FAMILIES["points_in_bursts"], 1, 0).classes
    assert (burst.burst_period_s, burst.burst_share, steady.burst_period_s) == (10.0, 0.2, 0.0)
    assert steady.capacity_share == pytest.approx((steady.capacity_share + burst.capacity_share) / 10.0)
    assert {steady.share_by, burst.share_by} == {"rate"}


def test_shares_of_the_capacity_are_all_drawn() -> None:
    drawn = {draw_workload(FAMILIES["pausing_points"], 1, number).classes[0].capacity_share for number in range(30)}
    assert drawn == set(SHARES)


def test_scripts_are_there() -> None:
    for family in FAMILIES.values():
        for sql_class in draw_workload(family, 1, 0).classes:
            assert sql_class.script.startswith(STOCK_PREFIX) or (SCRIPTS / f"{sql_class.script}.lua").is_file()


def test_definition_survives_the_store() -> None:
    for family in FAMILIES.values():
        workload = draw_workload(family, 1, 0)
        assert SqlWorkload.from_dict(workload.as_dict()) == workload


def test_names_lead_to_workloads() -> None:
    assert named_workload("joins_beside-3-1") == draw_workload(FAMILIES["joins_beside"], 3, 1)
    assert named_workload("joins_beside") == draw_workload(FAMILIES["joins_beside"], 1, 0)


@pytest.mark.parametrize("name", ["nothing", "joins_beside-x-1", "joins_beside-1"])
def test_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="no workload"):
        named_workload(name)


def test_broken_definition_is_refused() -> None:
    with pytest.raises(SettingError, match="not a workload"):
        SqlWorkload.from_dict({"name": "x"})
