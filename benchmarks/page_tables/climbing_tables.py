"""The tables of docs/results-climbing.md."""

from collections.abc import Mapping
from typing import Any

from page_tables.part import Part, Report, percent, table

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
    rows = []
    for name, row in _by_loss(report):
        verdict = report["verdicts"].get(name)
        found = "" if verdict is None else f"{verdict['won']} / {verdict['tied']} / {verdict['lost']}"
        rows.append((*_lost(name, row), found))
    best = percent(report["spectral_best_share"], 0)
    said = f"{report['cells']} cells. Ours loses least of all in {best} of them{_against_ancestors(report)}.\n"
    return f"{said}\n{table((*LOST, 'ours won / tied / lost'), rows)}"


def simulated_section(report: Report) -> str:
    """The means by controller on simulated pools."""
    return table(LOST, (_lost(name, row) for name, row in _by_loss(report)))


LOST = ("controller", "lost", "lost at rest", "runs that stay")


def _lost(name: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    shares = (percent(row["objective_lost"]), percent(row["end_lost"]), percent(row["stays"], 0))
    return (NAMES.get(name, name), *shares)


def _by_loss(report: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(report["means"].items(), key=lambda item: float(item[1]["objective_lost"]))


def _against_ancestors(report: Mapping[str, Any]) -> str:
    if report["better_than_best_ancestor_share"] is None:
        return ""
    better = percent(report["better_than_best_ancestor_share"], 0)
    inferior = report["not_non_inferior"]
    return (
        f", less than the best of the three reference controllers in {better}. In {inferior} it is not shown to be "
        "within 2 points of one of them"
    )


PAGE = "docs/results-climbing.md"
PARTS = (
    Part(PAGE, "controllers", ("climbers",), controllers_section),
    Part(PAGE, "simulated", ("climbers_simulated",), simulated_section),
)
