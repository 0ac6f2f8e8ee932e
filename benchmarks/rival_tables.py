"""Tables of rivals: on simulated machines, on recorded live sweeps, and of networks beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages import percent, table
from poolpilot.agent.controllers.warm_start import WarmStartSettings

Row = Mapping[str, Any]

RIVAL_HEADS = (
    "method",
    "trials",
    "goodput",
    "mean regret",
    "95 %",
    "median",
    "p90",
    "of the trials",
    "unsafe",
    "threads",
    "p99",
    "against the portfolio",
)

NETWORK_HEADS = (
    "method",
    "trials",
    "mean regret",
    "median",
    "p90",
    "unsafe",
    "against the portfolio",
    "against probing",
)

WHERE_KNOWN = {"seen": "seen", "below_default": "> 5 % below the default"}
"""Columns of those reports that have them."""

SETS = {"native": "Embedded pool", "mariadb": "MariaDB", "suite": "The MariaDB suite, of which nothing is known"}

PARTS = {
    "native, 1 cpus": "embedded, one processor",
    "native, 2 cpus": "embedded, two",
    "native, train": "embedded, training families",
    "native, test": "embedded, sealed families",
    "mariadb, train": "MariaDB, training families",
    "mariadb, test": "MariaDB, test families",
    "suite, test": "suite, sealed families",
}

HELD_OUT = {"native, held out": "Embedded pool", "mariadb, held out": "MariaDB"}

MOST_TRIES = WarmStartSettings().decisions
"""Those of `poolpilot climb --warm`."""


def rival_table(rows: Sequence[Row]) -> str:
    """A line for each method, the fewest trials first and then the least mean regret."""
    heads = [*RIVAL_HEADS, *(title for name, title in WHERE_KNOWN.items() if name in rows[0])]
    return table(heads, map(rival_cells, sorted(rows, key=by_tries)))


def rival_cells(row: Row) -> list[str]:
    """One method: what it ends on against the reference, what trying cost, and the difference to the portfolio."""
    return [
        f"`{row['name']}`",
        str(row["tries"]),
        f"{row['goodput']:.2f}",
        percent(row["regret_mean"]),
        between(row["regret_low"], row["regret_high"]),
        percent(row["regret_median"]),
        percent(row["regret_p90"]),
        percent(row["trying"], 0),
        percent(row["unsafe"], 0),
        "-" if row["threads"] is None else f"{row['threads']:.0f}",
        f"{row['p99']:.2f}",
        "" if row["against"] == row["method"] else between(row["against_low"], row["against_high"], "+"),
        *(percent(row[name], 0) for name in WHERE_KNOWN if name in row),
    ]


def live_tables(report: Mapping[str, Any]) -> str:
    """A table for each set, with what was censored and how the default differs from itself, and one of parts."""
    parts = [f"What methods know: {report['knows']['curves']} curves, less those that are left out.\n"]
    for kind, title in SETS.items():
        if not (rows := of_kind(report, kind)):
            continue
        censored = [one for one in report["censored"] if one["kind"] == kind]
        parts.append(
            f"{title}, {rows[0]['workloads']} workloads of {rows[0]['families']} families; censored: {len(censored)}; "
            f"{noise_words(report, kind)}:\n\n{rival_table(rows)}"
        )
    return "\n" + "\n".join([*parts, parts_table(report)]) + "\n"


def noise_words(report: Mapping[str, Any], kind: str) -> str:
    """How J of the default differs from itself."""
    floor = report["noise_floor"][kind]
    low, high = floor["interval"] or (None, None)
    interval = between(low, high, "+")
    again = f"{100 * floor['mean']:+.1f} % ({interval}, {floor['workloads']} workloads)"
    return f"J of the default measured again less what methods saw of it: {again}"


def parts_table(report: Mapping[str, Any]) -> str:
    """Mean regret of every method on parts of the sets, after the most trials and after none."""
    kinds = [kind for kind in PARTS if of_kind(report, kind)]
    heads = ["method", "trials", *(f"{PARTS[kind]}, {of_kind(report, kind)[0]['workloads']}" for kind in kinds)]
    by_kind = {kind: {row["method"]: row for row in of_kind(report, kind)} for kind in kinds}
    shown = [row for row in of_kind(report, "native") if row["tries"] in (0, MOST_TRIES)]
    lines = [
        (f"`{row['name']}`", str(row["tries"]), *(with_interval(by_kind[kind][row["method"]]) for kind in kinds))
        for row in sorted(shown, key=by_tries)
    ]
    return f"Mean regret on parts of these:\n\n{table(heads, lines)}"


def network_tables(report: Mapping[str, Any]) -> str:
    """Networks on held-out families: beside the portfolio and, for policies, beside the network that probes."""
    parts = []
    for kind, title in HELD_OUT.items():
        rows = of_kind(report, kind)
        if rows:
            cells = network_table(rows)
            parts.append(f"{title}, {rows[0]['workloads']} workloads of {rows[0]['families']} families:\n\n{cells}")
    return "\n" + "\n".join(parts) + "\n"


def simulated_networks(report: Mapping[str, Any]) -> str:
    """The same for networks of simulated machines, on compositions that are not among what they learned from."""
    rows, censored = of_kind(report, "compositions"), len(report["censored"])
    head = f"{rows[0]['workloads']} workloads of {rows[0]['families']} compositions; censored: {censored}."
    return f"\n{head}\n\n{network_table(rows)}\n"


def network_table(rows: Sequence[Row]) -> str:
    """A line for each method, the fewest trials first and then the least mean regret."""
    return table(NETWORK_HEADS, map(network_cells, sorted(rows, key=by_tries)))


def network_cells(row: Row) -> list[str]:
    """One method beside its two rivals; the second one is that of policies alone."""
    rival = "rival" in row and row["rival"] != row["method"]
    return [
        f"`{row['name']}`",
        str(row["tries"]),
        with_interval(row),
        percent(row["regret_median"]),
        percent(row["regret_p90"]),
        percent(row["unsafe"], 0),
        "" if row["against"] == row["method"] else between(row["against_low"], row["against_high"], "+"),
        between(row["rival_low"], row["rival_high"], "+") if rival else "",
    ]


def by_tries(row: Row) -> tuple[int, float]:
    """The order of lines."""
    return row["tries"], row["regret_mean"]


def of_kind(report: Mapping[str, Any], kind: str) -> list[Row]:
    """Rows of one set."""
    return [row for row in report["rows"] if row["kind"] == kind]


def with_interval(row: Row) -> str:
    """The mean regret with its interval."""
    return f"{percent(row['regret_mean'])} ({between(row['regret_low'], row['regret_high'])})"


def between(low: float | None, high: float | None, sign: str = "") -> str:
    """An interval of shares in per cent; a dash where none is known."""
    return "-" if low is None or high is None else f"{100 * low:{sign}.1f}..{100 * high:{sign}.1f} %"
