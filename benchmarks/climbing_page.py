"""Writes the tables of docs/results-climbing.md from the reports that other commands leave.

How to run: `make bench-climbers`, or `python benchmarks/climbing_page.py` after the commands it names. Results to
expect: the parts of the page between their markers are written anew; a part without its report stays as it is.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from pages import percent, read_report, replaced, table

Report = Any

NAMES = {
    "spectral": "**ours**",
    "article": "Trub's settings",
    "dotnet": ".NET's",
    "probing": "MongoDB's probing",
    "three_state": "three states (Timm)",
    "control_theory": "control theory",
    "golden_section": "golden section",
    "wait_ratio": "N (1 + W/S)",
    "little": "Little's law",
    "usl": "USL fit",
    "random": "random search",
    "bayesian": "Bayesian (AutoTiKV)",
    "ottertune": "OtterTune's mapping",
    "nearest": "nearest stored profile",
    "trees": "boosted trees",
}


def controllers_section(report: Report) -> str:
    """The means by controller on curves, and how often ours is better."""
    summary = report["summary"]
    rows = []
    for name, row in _by_loss(summary):
        verdict = summary["verdicts"].get(name)
        found = "" if verdict is None else f"{verdict['won']} / {verdict['tied']} / {verdict['lost']}"
        rows.append((*_lost(name, row), found))
    best = percent(summary["spectral_best_share"], 0)
    said = f"{summary['cells']} cells. Ours loses least of all in {best} of them{_against_ancestors(summary)}.\n"
    return f"{said}\n{table((*LOST, 'ours won / tied / lost'), rows)}"


def simulated_section(report: Report) -> str:
    """The means by controller on simulated pools."""
    return table(LOST, (_lost(name, row) for name, row in _by_loss(report["summary"])))


LOST = ("controller", "lost", "lost at rest", "runs that stay")


def _lost(name: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    shares = (percent(row["objective_lost"]), percent(row["end_lost"]), percent(row["stays"], 0))
    return (NAMES.get(name, name), *shares)


def _by_loss(summary: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(summary["means"].items(), key=lambda item: float(item[1]["objective_lost"]))


def _against_ancestors(summary: Mapping[str, Any]) -> str:
    if summary["better_than_best_ancestor_share"] is None:
        return ""
    better = percent(summary["better_than_best_ancestor_share"], 0)
    inferior = summary["not_non_inferior"]
    return (
        f", less than the best of the three reference controllers in {better}. In {inferior} it is not shown to be "
        "within 2 points of one of them"
    )


def losing_section(report: Report) -> str:
    """Cells in which ours loses to a reference controller, by reason, with the worst of each."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in report["losing"]:
        groups.setdefault(reason_of(row), []).append(row)
    rows = []
    for reason, losing in sorted(groups.items(), key=lambda item: -len(item[1])):
        worst = max(losing, key=lambda row: float(row["difference"]))
        rows.append((str(len(losing)), reason, f"{100.0 * worst['difference']:.2f} ({_interval(worst)})"))
    return table(("comparisons", "reason", "worst, points lost"), rows)


def _interval(row: Mapping[str, Any]) -> str:
    """In points; a cell of one repeat has none."""
    return "one repeat" if row["low"] is None else f"{100.0 * row['low']:.2f} .. {100.0 * row['high']:.2f}"


def reason_of(row: Mapping[str, Any]) -> str:
    """Why ours loses a cell, by what sets the cell apart."""
    cell, scale = row["cell"], int(row["cell"].split(" of ")[1].split(",")[0])
    if cell.endswith("to more threads"):
        return "the other had drifted to too many threads before a shift asked for more"
    if cell.endswith("from optimum") or (cell.startswith("flat") and cell.endswith("from one")):
        return "begun at the optimum: looking round costs more than standing still"
    if scale <= 32:
        return "a small pool, which a wave of ten threads crosses at once"
    if cell.endswith("from largest"):
        return "begun at the largest size, whose last threads are worth little beside the noise"
    return "steps of at most a factor of three, where sizes are small"


def claims_section(report: Report) -> str:
    """Fourfold change, shifts, false alarms, cost."""
    samples, cost = report["fourfold_samples"], report["update_us"]
    down, up = (percent(report[f"shift_{name}_30"]["within_2"], 0) for name in ("down", "up"))
    shown = ", ".join(f"{samples[name]:.0f}" for name in ("spectral", "golden_section", "article", "dotnet"))
    rows = [
        ("samples until 16 threads are 64, 5 % noise: ours, golden section, Trub's settings, .NET's", shown),
        ("shifts of 30 % noticed within two samples, down and up", f"{down}, {up}"),
        ("false restarts in 200,000 stationary samples", str(report["false_alarms_in_200000"])),
        ("microseconds of an update, holding and climbing", f"{cost['holding']:.1f}, {cost['climbing']:.1f}"),
    ]
    return table(("what", "found"), rows)


def ablations_section(report: Report) -> str:
    """The grid with one improvement switched off each."""
    means, verdicts = report["summary"]["means"], report["summary"]["verdicts"]
    rows = [
        (
            name if name in verdicts else "as it is",
            percent(row["objective_lost"], 2),
            percent(row["end_lost"], 2),
        )
        for name, row in means.items()
    ]
    return table(("our climber", "lost", "lost at rest"), rows)


def warm_starts_section(report: Report) -> str:
    """What a warm start loses by how far the prediction is off."""
    rows = [
        (f"{row['prediction_over_optimum']:g}", *(percent(row[name]) for name in WARM)) for row in report["warm_starts"]
    ]
    return table(("prediction over optimum", *WARM), rows)


WARM = ("cold", "warm, trusting", "warm, verifying")
WITHIN = 0.05


def knobs_section(report: Report) -> str:
    """All knobs of the core tuple beside the size alone, over all workloads."""
    rows = []
    for words, key in (
        ("default", "default_regret"),
        ("size alone", "one_regret"),
        ("all three", "many_regret"),
        ("search, 30 configurations", "search_regret"),
    ):
        regrets = sorted(row[key] for row in report)
        within = sum(regret <= WITHIN for regret in regrets)
        rows.append((words, percent(median(regrets)), percent(regrets[-1]), f"{within} of {len(regrets)}"))
    return table(("", "regret, median", "worst", "within 5 %"), rows)


def rw_section(report: Report) -> str:
    """Share of the possible gain captured in the first ten minutes."""
    seed = {256: 0.93, 512: 0.89, 1024: 0.64}
    lines = [
        "| connections | possible gain | Trub's report | its settings here | ours, cold | ours, warm |",
        "|---|---|---|---|---|---|",
    ]
    for connections, reported in seed.items():
        of = {row["climb"]: row for row in report if row["connections"] == connections}
        lines.append(
            f"| {connections} | {percent(of['cold']['possible_gain'])} | {percent(reported, 0)} | "
            + " | ".join(percent(of[name]["captured"]) for name in ("article", "cold", "warm"))
            + " |"
        )
    return "\n".join(lines) + "\n"


SECTIONS: dict[str, tuple[str, Callable[[Report], str]]] = {
    "controllers": ("climbers", controllers_section),
    "losing": ("climbers", losing_section),
    "claims": ("climber_claims", claims_section),
    "ablations": ("climbers_ablations", ablations_section),
    "warm_starts": ("climber_ablations", warm_starts_section),
    "simulated": ("climbers_simulated", simulated_section),
    "knobs": ("knob_climb", knobs_section),
    "rw": ("rw_climb", rw_section),
}
"""Parts of the page by name: the report that each is made of, and how."""


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/results-climbing.md"))
    given = parser.parse_args()
    page = given.page.read_text()
    for name, (file, section) in SECTIONS.items():
        report = read_report(given.reports / f"{file}.json")
        if report is not None:
            page = replaced(page, name, section(report))
    given.page.write_text(page)


if __name__ == "__main__":
    main()
