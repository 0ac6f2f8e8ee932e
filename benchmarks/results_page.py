"""Writes the tables of docs/results.md and the table of README.md from what other benchmarks leave.

How to run: `python benchmarks/results_page.py [--reports benchmarks/reports] [--page docs/results.md]
[--readme README.md]` after `poolpilot evaluate --json benchmarks/reports/evaluation.json`, `instruments.py`, `hold.py`
(`--json` likewise) and `demo_seeds.py`. Results to expect: the parts of the pages between their markers are written
anew; a part without a file stays as it is.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from demo_section import demo_tables, summary_table
from pages import read_report, replaced
from poolpilot.pipelines.evaluate.statistics.regret_statistics import METHOD_NAMES


def evaluation_section(evaluation: dict[str, Any]) -> str:
    """The methods on held-out workloads, least median regret first, and which workloads nothing is judged on."""
    rows = "| method | median | p90 | within 5 % | seen | difference to SBS (95 % interval) |\n"
    rows += "|---|---|---|---|---|---|\n"
    methods = evaluation["methods"]
    for name in sorted(methods, key=lambda one: methods[one]["regret_median"]):
        one, paired = methods[name], evaluation["paired_vs_sbs"].get(name)
        difference = ""
        if paired is not None:
            low, high = paired["low"], paired["high"]
            difference = f"{100 * paired['mean_difference']:+.1f} ({100 * low:+.1f} .. {100 * high:+.1f})"
        regrets = [f"{100 * one[key]:.1f} %" for key in ("regret_median", "regret_p90")]
        shares = [f"{100 * one[key]:.0f} %" for key in ("within_5pct", "judged_by_seen")]
        rows += f"| {' | '.join([METHOD_NAMES.get(name, name), *regrets, *shares, difference])} |\n"
    censored = "; ".join(f"`{name}`: {reason}" for name, reason in evaluation["censored"].items()) or "none"
    return f"{rows}\n{evaluation['workloads']} workloads. Left out: {censored}.\n"


def instruments_section(result: dict[str, Any]) -> str:
    """The cost of the instruments."""
    return (
        f"Throughput with instruments over without, {result['pairs']} interleaved pairs of requests of 20 us: "
        f"{result['ratio_on_off']:.3f} (95 % interval {result['low']:.3f} .. {result['high']:.3f}).\n"
    )


def hold_section(result: dict[str, Any]) -> str:
    """The minute of 1,024 connections."""
    rows = "".join(f"| {name.replace('_', ' ')} | {value} |\n" for name, value in result.items())
    return f"| what | count |\n|---|---|\n{rows}"


def main() -> None:
    """Writes every part whose file there is anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/results.md"))
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    arguments = parser.parse_args()
    sections: dict[str, tuple[Path, Callable[[Any], str]]] = {
        "evaluation": (arguments.page, evaluation_section),
        "instruments": (arguments.page, instruments_section),
        "hold": (arguments.page, hold_section),
    }
    for name, (page, section) in sections.items():
        report = read_report(arguments.reports / f"{name}.json")
        if report is not None:
            page.write_text(replaced(page.read_text(), name, section(report)))
    demos = [read_report(path) for path in sorted((arguments.reports / "demo").glob("seed-*.json"))]
    if demos:
        arguments.page.write_text(replaced(arguments.page.read_text(), "demo", demo_tables(demos)))
        arguments.readme.write_text(replaced(arguments.readme.read_text(), "demo", summary_table(demos)))


if __name__ == "__main__":
    main()
