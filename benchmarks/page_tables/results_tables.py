"""The tables of docs/results.md, and that of README.md."""

from typing import Any

from page_tables.demo_table import demo_tables, summary_table
from page_tables.part import Part
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


PAGE = "docs/results.md"
PARTS = (
    Part(PAGE, "demo", ("demo",), demo_tables),
    Part("README.md", "demo", ("demo",), summary_table),
    Part(PAGE, "evaluation", ("evaluation",), evaluation_section),
    Part(PAGE, "instruments", ("instruments",), instruments_section),
)
