"""Tables of rivals show every number of trials, and columns that only some reports have."""

from typing import Any

from rival_tables import network_tables, rival_table, simulated_networks

NUMBERS = ("goodput", "regret_mean", "regret_low", "regret_high", "regret_median", "regret_p90", "trying", "unsafe")


def row(name: str, tries: int, **others: Any) -> dict[str, Any]:
    return {
        **dict.fromkeys((*NUMBERS, "threads", "p99", "against_low", "against_high"), 0.1),
        "kind": "native, held out",
        "name": name,
        "method": f"{name}_{tries}",
        "against": f"portfolio_{tries}",
        "tries": tries,
        "workloads": 4,
        "families": 3,
        **others,
    }


def test_networks_are_shown_after_every_number_of_trials() -> None:
    table = network_tables({"rows": [row("marwil_probing", tries) for tries in (3, 1, 2)]})
    shown = [line.split("|")[2].strip() for line in table.splitlines() if line.startswith("| `")]
    assert shown == ["1", "2", "3"]


def test_networks_of_simulated_machines_stand_beside_the_network_that_probes() -> None:
    rival = {"rival": "all_action_probing_3", "rival_low": -0.2, "rival_high": 0.1, "kind": "compositions"}
    rows = [row("all_action_probing", 3, kind="compositions"), row("ppo_policy", 3, regret_mean=0.2, **rival)]
    lines = simulated_networks({"rows": rows, "censored": {"composed-3-24cpus": "poor"}}).strip().splitlines()
    assert lines[0] == "4 workloads of 3 compositions; censored: 1."
    assert lines[-1].startswith("| `ppo_policy` | 3 |")
    assert lines[-1].endswith("| -20.0..+10.0 % |")


def test_columns_of_reports_that_have_them() -> None:
    heads, _, cells = rival_table([row("gp_ucb", 1, below_default=0.25)]).splitlines()
    assert heads.endswith("| > 5 % below the default |")
    assert cells.endswith("| 25 % |")
    assert "below" not in rival_table([row("gp_ucb", 1)])
