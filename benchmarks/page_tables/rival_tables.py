"""Tables of rivals: on simulated machines, on recorded live sweeps, and of networks beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from page_tables.part import Part, between, percent, table
from poolpilot.agent.controllers.warm_start import WarmStartSettings

Row = Mapping[str, Any]

MOST_TRIALS = WarmStartSettings().decisions
"""Those of `poolpilot climb --warm`."""

UNTRIED = ("default", "constant_best", "wait_ratio", "latent_advisor")
TRYING = ("portfolio", "latent_bandit", "nearest", "trees", "gp_ucb", "random_search")
SHOWN = {0: UNTRIED, 3: TRYING, MOST_TRIALS: TRYING}
"""What is shown after some numbers of trials; the reports have every number and more methods."""

SIMULATED = {"families": "families left out", "compositions": "compositions left out"}
LIVE = {"native": "embedded pool", "mariadb": "MariaDB", "suite": "MariaDB suite"}
HELD_OUT = {"native, held out": "embedded pool", "mariadb, held out": "MariaDB"}

LOSSES = ("all_action", "ppo", "marwil")
NETWORKS = [f"{loss}{features}" for features in ("", "_on_ratios") for loss in LOSSES]
NETWORK_NAMES = {
    0: ("default", "constant_best", "advise", "all_action_on_ratios", "all_action_on_ratios_unguarded"),
    3: ("portfolio", "latent_bandit", *(f"{name}_{how}" for name in NETWORKS for how in ("probing", "policy"))),
}
"""Networks after one observation and three trials; a policy tries what it names, `probing` also what it doubts."""


def simulated_section(report: Mapping[str, Any]) -> str:
    """What rivals lose on simulated machines that they do not know."""
    knows = report["knows"]
    words = f"Methods know {knows['curves']} curves, less those that are left out. Censored: {len(report['censored'])}."
    return f"{words}\n\n{rivals_table(report, SIMULATED)}"


def live_section(report: Mapping[str, Any]) -> str:
    """What rivals lose on recorded live sweeps, and how the default of each set differs from itself."""
    return f"{rivals_table(report, LIVE)}\n{sets_table(report)}"


def rivals_table(report: Mapping[str, Any], sets: Mapping[str, str]) -> str:
    """A line for each method and number of trials, with the mean regret and the unsafe trials of each set.

    Bold is what loses less than the portfolio of as many trials beyond its interval.
    """
    by_kind = {kind: {row["method"]: row for row in of_kind(report, kind)} for kind in sets}
    titles = [f"{title}, {of_kind(report, kind)[0]['workloads']}" for kind, title in sets.items()]
    heads = ("method", "trials", *(f"{title}: {what}" for title in titles for what in ("mean regret", "unsafe")))
    first = by_kind[next(iter(sets))]
    shown = [row for row in first.values() if row["name"] in SHOWN.get(row["tries"], ())]
    lines = []
    for row in sorted(shown, key=by_trials):
        found = [rows[row["method"]] for rows in by_kind.values()]
        cells = (cell for one in found for cell in (regret_cell(one), percent(one["unsafe"], 0)))
        lines.append((f"`{row['name']}`", str(row["tries"]), *cells))
    return table(heads, lines)


def regret_cell(row: Row) -> str:
    """The mean regret with its interval, bold where it is below that of the portfolio, or of the best constant."""
    words = with_interval(row)
    return f"**{words}**" if row["against_high"] is not None and row["against_high"] < 0.0 else words


def sets_table(report: Mapping[str, Any]) -> str:
    """Each set with what was censored and how J of the default differs from itself when measured again."""
    heads = ("set", "workloads", "families", "censored", "default measured again, change of J")
    lines = []
    for kind, title in LIVE.items():
        row, floor = of_kind(report, kind)[0], report["noise_floor"][kind]
        low, high = floor["interval"] or (None, None)
        censored = sum(one["kind"] == kind for one in report["censored"])
        again = f"{100 * floor['mean']:+.1f} % ({between(low, high, '+')})"
        lines.append((title, str(row["workloads"]), str(row["families"]), str(censored), again))
    return table(heads, lines)


def network_section(simulated: Mapping[str, Any], live: Mapping[str, Any]) -> str:
    """Networks on what they have not learned from, with the difference of policies to the network that probes."""
    sets = {"simulated": of_kind(simulated, "compositions")}
    sets |= {title: of_kind(live, kind) for kind, title in HELD_OUT.items()}
    return f"{network_table(sets)}\n{compared_words(sets)}\n"


def network_table(sets: Mapping[str, Sequence[Row]]) -> str:
    """A line for each method, the fewest trials first and then the least mean regret on the first set."""
    titles = [f"{title}, {rows[0]['workloads']}" for title, rows in sets.items()]
    heads = ("method", "trials", *(f"{one}: {what}" for one in titles for what in ("mean regret", "against probing")))
    by_method = [{row["method"]: row for row in rows} for rows in sets.values()]
    shown = [row for row in by_method[0].values() if row["name"] in NETWORK_NAMES.get(row["tries"], ())]
    lines = []
    for row in sorted(shown, key=by_trials):
        found = [rows[row["method"]] for rows in by_method]
        cells = (cell for one in found for cell in (percent(one["regret_mean"]), against_probing(one)))
        lines.append((f"`{row['name']}`", str(row["tries"]), *cells))
    return table(heads, lines)


def against_probing(row: Row) -> str:
    """The interval of the difference of a policy to the network of the exact loss that probes; a dash for others."""
    return between(row["rival_low"], row["rival_high"], "+") if is_held_against(row) else "-"


def is_held_against(row: Row) -> bool:
    """Whether the row is of a policy that is compared with the network that probes."""
    return "rival" in row and row["rival"] != row["method"]


def compared_words(sets: Mapping[str, Sequence[Row]]) -> str:
    """How often a policy is better or worse than the network that probes, beyond its interval."""
    compared = [row for rows in sets.values() for row in rows if is_held_against(row)]
    better = sum(row["rival_high"] < 0.0 for row in compared)
    worse = sum(row["rival_low"] > 0.0 for row in compared)
    return (
        f"After every number of trials, {len(compared)} comparisons with the network that probes: {better} policies "
        f"are better beyond their interval, {worse} worse."
    )


def is_quoted(row: Row) -> bool:
    """Whether a table quotes a row, which is then kept in a report."""
    shown = (*SHOWN.get(row["tries"], ()), *NETWORK_NAMES.get(row["tries"], ()))
    return row["name"] in shown or is_held_against(row)


def by_trials(row: Row) -> tuple[int, float]:
    """The order of lines."""
    return row["tries"], row["regret_mean"]


def of_kind(report: Mapping[str, Any], kind: str) -> list[Row]:
    """Rows of one set."""
    return [row for row in report["rows"] if row["kind"] == kind]


def with_interval(row: Row) -> str:
    """The mean regret with its interval."""
    return f"{percent(row['regret_mean'])} ({between(row['regret_low'], row['regret_high'])})"


PAGE = "docs/results-evaluation.md"
PARTS = (
    Part(PAGE, "rivals", ("simulated_rivals",), simulated_section),
    Part(PAGE, "live-rivals", ("live_rivals",), live_section),
    Part(PAGE, "networks", ("simulated_policies", "live_rivals"), network_section),
)
