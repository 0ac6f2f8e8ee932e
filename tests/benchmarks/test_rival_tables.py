"""Tables of rivals show some numbers of trials; bold is what beats as many constants beyond its interval."""

from typing import Any

from page_tables.rival_tables import MOST_TRIALS, compared_words, network_table, rivals_table, sets_table

NUMBERS = ("regret_mean", "regret_low", "regret_high", "unsafe", "against_low", "against_high")


def row(name: str, tries: int, **others: Any) -> dict[str, Any]:
    return {
        **dict.fromkeys(NUMBERS, 0.1),
        "kind": "native",
        "name": name,
        "method": f"{name}_{tries}",
        "tries": tries,
        "workloads": 4,
        "families": 3,
        **others,
    }


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_rivals_have_a_line_for_each_shown_number_of_trials_and_are_bold_where_they_beat_constants() -> None:
    numbers = (MOST_TRIALS, 1, 3)
    rows = [row("portfolio", tries) for tries in numbers]
    rows += [row("trees", tries, regret_mean=0.05, against_high=-0.01) for tries in numbers]
    lines = [cells(line) for line in rivals_table({"rows": rows}, {"native": "embedded pool"}).splitlines()]
    assert lines[0] == ["method", "trials", "embedded pool, 4: mean regret", "embedded pool, 4: unsafe"]
    assert lines[2:] == [
        [f"`{name}`", str(tries), found, "10 %"]
        for tries in (3, MOST_TRIALS)
        for name, found in (("trees", "**5.0 % (10.0..10.0 %)**"), ("portfolio", "10.0 % (10.0..10.0 %)"))
    ]


def test_sets_say_how_the_default_differs_from_itself() -> None:
    kinds = ("native", "mariadb", "suite")
    floor = {"mean": -0.08, "interval": [-0.13, -0.03]}
    report = {
        "rows": [row("default", 0, kind=kind) for kind in kinds],
        "censored": [{"kind": "native"}],
        "noise_floor": dict.fromkeys(kinds, floor),
    }
    line = cells(sets_table(report).splitlines()[2])
    assert line == ["embedded pool", "4", "3", "1", "-8.0 % (-13.0..-3.0 %)"]


def test_policies_stand_beside_the_network_that_probes_and_are_counted() -> None:
    rival = {"rival": "all_action_probing_3", "rival_low": -0.2, "rival_high": 0.1}
    worse = {"rival": "all_action_probing_1", "rival_low": 0.01, "rival_high": 0.1}
    rows = [
        row("all_action_probing", 3),
        row("ppo_policy", 3, regret_mean=0.2, **rival),
        row("ppo_policy", 1, **worse),
    ]
    lines = [cells(line) for line in network_table({"simulated": rows}).splitlines()[2:]]
    assert lines == [
        ["`all_action_probing`", "3", "10.0 %", "-"],
        ["`ppo_policy`", "3", "20.0 %", "-20.0..+10.0 %"],
    ]
    assert compared_words({"simulated": rows}) == (
        "After every number of trials, 2 comparisons with the network that probes: 0 policies are better beyond their "
        "interval, 1 worse."
    )
