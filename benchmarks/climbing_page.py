"""Writes the tables of docs/climbing.md from the code and from the reports that other commands leave.

How to run: `make bench-climbers`, or `python benchmarks/climbing_page.py` after the commands it names. Results to
expect: the parts of the page between their markers are written anew; a part without its report stays as it is.
"""

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.pipelines.bench.climbing.reference_controllers import ANCESTORS
from poolpilot.serve.commands.climb.settings_table import default_in_words, range_in_words, setting_rows

Report = Any

NAMES = {
    "spectral": "**spectral (ours)**",
    "article": "spectral, Trub's own settings",
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
    "ottertune": "Bayesian with workload mapping (OtterTune)",
    "nearest": "nearest stored profile",
    "trees": "boosted trees",
}


def settings_section() -> str:
    """Every setting of the climber, from the settings model."""
    lines = ["| setting | alias | default | unit | range | effect |", "|---|---|---|---|---|---|"]
    for row in setting_rows(ClimbSettings()):
        alias = "" if row["alias"] == row["name"] else f"`{row['alias']}`"
        default, allowed = default_in_words(row), range_in_words(row)
        lines.append(f"| `{row['name']}` | {alias} | {default} | {row['unit']} | {allowed} | {row['effect']} |")
    return "\n".join(lines) + "\n"


def controllers_section(report: Report) -> str:
    """The means by controller."""
    summary = report["summary"]
    lines = [
        f"{summary['cells']} cells. Ours loses least of all in {percent(summary['spectral_best_share'], 0)} of them "
        f"(`summary.spectral_best_share`){_against_ancestors(summary)}.",
        "",
        "| controller | objective lost | throughput lost | lost at rest | samples to stay within 5 % | runs that stay "
        "| size / smallest good | size changes | of them wrong | ours won / tied / lost |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in sorted(summary["means"].items(), key=lambda item: float(item[1]["objective_lost"])):
        verdict = summary["verdicts"].get(name)
        found = "" if verdict is None else f"{verdict['won']} / {verdict['tied']} / {verdict['lost']}"
        stay = "-" if row["samples_to_stay"] is None else f"{row['samples_to_stay']:.0f}"
        lines.append(
            f"| {NAMES.get(name, name)} | {percent(row['objective_lost'], 2)} | {percent(row['throughput_lost'], 2)} | "
            f"{percent(row['end_lost'], 2)} | {stay} | {percent(row['stays'], 0)} | {row['size_over_smallest']:.2f} | "
            f"{row['changes']:.0f} | {row['wrong_moves']:.0f} | {found} |"
        )
    return "\n".join(lines) + "\n"


def _against_ancestors(summary: Mapping[str, Any]) -> str:
    if summary["better_than_best_ancestor_share"] is None:
        return ""
    better = percent(summary["better_than_best_ancestor_share"], 0)
    inferior = summary["not_non_inferior"]
    return (
        f", less than the best of the three reference controllers in {better}; in {inferior} it is not shown to be "
        "within 2 points of one of them"
    )


def grid_section(report: Report) -> str:
    """Mean objective lost by shape and noise: ours beside the reference controllers."""
    by_key = {
        (f"{row['shape']}, {'shifted' if row['shifted'] else 'steady'}", _noise(row)): row["objective_lost"]
        for row in report["by_curve"]
    }
    noises = sorted({noise for _, noise in by_key}, key=lambda noise: ("correlated" in noise, float(noise.split()[0])))
    lines = ["| curve | " + " | ".join(noises) + " |", "|---" * (len(noises) + 1) + "|"]
    for kind in dict.fromkeys(kind for kind, _ in by_key):
        row = [_ours_beside(by_key[kind, noise]) if (kind, noise) in by_key else "" for noise in noises]
        lines.append(f"| {kind} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _noise(row: Mapping[str, Any]) -> str:
    return f"{100 * row['noise']:g} %" + (" correlated" if row["correlation"] else "")


def _ours_beside(lost: Mapping[str, float]) -> str:
    ours, *others = (f"{100 * lost[name]:.1f}" for name in ("spectral", *ANCESTORS))
    return f"**{ours}** / " + " / ".join(others)


def losing_section(report: Report) -> str:
    """Cells in which ours loses to a reference controller, by reason, with the worst of each."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in report["losing"]:
        groups.setdefault(reason_of(row), []).append(row)
    lines = ["| comparisons | reason | worst: cell, reference controller | points lost |", "|---|---|---|---|"]
    for reason, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        worst = max(rows, key=lambda row: float(row["difference"]))
        lines.append(
            f"| {len(rows)} | {reason} | {worst['cell']}; {NAMES[worst['baseline']]} | "
            f"{100.0 * worst['difference']:.2f} ({_interval(worst)}) |"
        )
    return "\n".join(lines) + "\n"


def _interval(row: Mapping[str, Any]) -> str:
    """In points; a cell of one repeat has none."""
    return "one repeat" if row["low"] is None else f"{100.0 * row['low']:.2f} .. {100.0 * row['high']:.2f}"


def reason_of(row: Mapping[str, Any]) -> str:
    """Why ours loses a cell, by what sets the cell apart."""
    cell, scale = row["cell"], int(row["cell"].split(" of ")[1].split(",")[0])
    if cell.endswith("to more threads"):
        return "the reference controller had drifted to too many threads before the shift asked for more of them"
    if cell.endswith("from optimum") or (cell.startswith("flat") and cell.endswith("from one")):
        return "the run begins at the optimum: looking round costs more than standing still"
    if scale <= 32:
        return "a small pool, which Trub's wave of ten threads crosses at once"
    if cell.endswith("from largest"):
        return "begun at the largest size: the noise hides how little the last threads are worth"
    return "steps of at most a factor of three; Trub's wave of ten threads is larger where sizes are small"


def claims_section(report: Report) -> str:
    """Fourfold change, shifts, false alarms, cost."""
    samples = report["fourfold_samples"]
    found = ", ".join(
        f"{NAMES[name]} {'never' if value is None else format(value, '.0f')}"
        for name, value in sorted(samples.items(), key=lambda item: (item[1] is None, item[1] or 0.0))
    )
    down, up, cost = report["shift_down_30"], report["shift_up_30"], report["update_us"]
    return (
        "* Samples until a size of 16 has grown fourfold on a rising curve at 5 % noise, median of 200 runs:\n"
        f"  {found}.\n"
        "* A shift of the throughput by 30 % at 5 % noise, while a size is held: noticed within two samples in "
        f"{percent(down['within_2'], 0)} of 200 runs\n  downwards and {percent(up['within_2'], 0)} upwards, at the "
        f"latest after {max(down['most'], up['most'])}.\n"
        "* False restarts in 200,000 samples of stationary 5 % noise while holding: "
        f"{report['false_alarms_in_200000']}.\n"
        f"* An update costs {cost['holding']:.1f} microseconds while holding, {cost['climbing']:.1f} while climbing, "
        "the call from Python included\n  (two virtual CPUs), and allocates no memory (`climb_memory_test.cpp`).\n"
    )


def ablations_section(report: Report) -> str:
    """The grid with one improvement switched off each."""
    means, cells = report["summary"]["means"], report["summary"]["cells"]
    lines = [
        f"{cells} cells of the same grid:",
        "",
        "| our climber | objective lost | lost at rest | size changes | as it is won / tied / lost |",
        "|---|---|---|---|---|",
    ]
    for name, row in means.items():
        verdict = report["summary"]["verdicts"].get(name)
        found = "" if verdict is None else f"{verdict['won']} / {verdict['tied']} / {verdict['lost']}"
        lines.append(
            f"| {'as it is' if verdict is None else name} | {percent(row['objective_lost'], 2)} | "
            f"{percent(row['end_lost'], 2)} | {row['changes']:.0f} | {found} |"
        )
    return "\n".join(lines) + "\n"


def others_section(report: Report) -> str:
    """The improvements that the grid cannot show."""
    lines = []
    for name, title in (
        ("intervals", "Sampling interval, objective lost over five minutes"),
        ("warm_starts", "Warm start, objective lost over 300 samples"),
        ("forced_changes", "Size quartered by somebody else in mid-climb, objective lost over 300 samples"),
    ):
        rows = report[name]
        lines += [f"{title}:", "", "| " + " | ".join(key.replace("_", " ") for key in rows[0]) + " |"]
        lines += ["|---" * len(rows[0]) + "|"]
        for row in rows:
            first, *rest = row.values()
            shown = first if isinstance(first, str) else percent(first, 1) if name == "intervals" else f"{first:g}"
            lines.append("| " + " | ".join([shown, *(percent(value, 2) for value in rest)]) + " |")
        lines.append("")
    return "\n".join(lines)


def knobs_section(report: Report) -> str:
    """All knobs of the core tuple beside the size alone."""
    lines = [
        "| workload | oracle | default | size alone | in samples | all three | ends on | in samples | search |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in report:
        lines.append(
            f"| {row['workload']} | {tuple(row['oracle'])} | {percent(row['default_regret'])} | "
            f"{percent(row['one_regret'])} | {row['one_samples']} | {percent(row['many_regret'])} | "
            f"{tuple(row['many_end'])} | {row['many_samples']} | {percent(row['search_regret'])} |"
        )
    return "\n".join(lines) + "\n"


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


def timer_controllers_section(before: Report, after: Report) -> str:
    """Means of the same controllers under the older timer and under the one that runs free."""
    means_before, means = before["summary"]["means"], after["summary"]["means"]
    lines = [
        "| controller | objective lost: older timer | free timer | lost at rest: older timer | free timer |",
        "|---|---|---|---|---|",
    ]
    for name in sorted(means_before.keys() & means.keys(), key=lambda name: float(means[name]["objective_lost"])):
        shown = [percent(of[name][key]) for key in ("objective_lost", "end_lost") for of in (means_before, means)]
        lines.append(f"| {NAMES.get(name, name)} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def timer_knobs_section(before: Report, after: Report) -> str:
    """Climbs of the size and of all knobs under the older timer and under the one that runs free."""
    earlier = {row["workload"]: row for row in before}
    lines = [
        "| workload | oracle: older timer | free timer | size alone: older timer | free timer | all three: older timer "
        "| free timer |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in after:
        both = (earlier[row["workload"]], row)
        regrets = [percent(one[key]) for key in ("one_regret", "many_regret") for one in both]
        oracles = [str(tuple(one["oracle"])) for one in both]
        lines.append("| " + " | ".join([row["workload"], *oracles, *regrets]) + " |")
    return "\n".join(lines) + "\n"


def timer_sweeps_section(report: Report) -> str:
    """Stored sweeps measured again, as they were and as today."""
    lines = [
        "| workload | best of the store | loses | best again, older timer | loses | best, free timer "
        "| noise of a window | goodput, free over older: 10 ms | 500 ms |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in report:
        choices = [f"{tuple(row['best'][way])} | {percent(row['loses'][way])}" for way in ("store", "then")]
        shifts = [f"{math.exp(row['log_today_over_then'][interval]):.3f}" for interval in ("10", "500")]
        cells = [row["workload"], *choices, str(tuple(row["best"]["today"])), percent(row["noise"]), *shifts]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


SECTIONS: dict[str, tuple[tuple[str, ...], Callable[..., str]]] = {
    "settings": ((), settings_section),
    "controllers": (("climbers.json",), controllers_section),
    "grid": (("climbers.json",), grid_section),
    "losing": (("climbers.json",), losing_section),
    "claims": (("climber_claims.json",), claims_section),
    "ablations": (("climbers_ablations.json",), ablations_section),
    "others": (("climber_ablations.json",), others_section),
    "knobs": (("knob_climb.json",), knobs_section),
    "knobs_live": (("knob_climb_live.json",), knobs_section),
    "rw": (("rw_climb.json",), rw_section),
    "simulated": (("climbers_simulated.json",), controllers_section),
    "native": (("climbers_native.json",), controllers_section),
    "timer_simulated": (("older_timer/climbers_simulated.json", "climbers_simulated.json"), timer_controllers_section),
    "timer_native": (("older_timer/climbers_native.json", "climbers_native.json"), timer_controllers_section),
    "timer_sweeps": (("timer_sweeps.json",), timer_sweeps_section),
    "timer_knobs": (("older_timer/knob_climb.json", "knob_climb.json"), timer_knobs_section),
}
"""Parts of the page by name: the reports that they are made of, and how."""


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/climbing.md"))
    given = parser.parse_args()
    page = given.page.read_text()
    for name, (files, section) in SECTIONS.items():
        reports = [read_report(given.reports / file) for file in files]
        if None not in reports:
            page = replaced(page, name, section(*reports))
    given.page.write_text(page)


if __name__ == "__main__":
    main()
