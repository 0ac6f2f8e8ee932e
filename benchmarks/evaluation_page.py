"""Rewrites the measured parts of docs/evaluation.md: workload files, replayed trials, rivals, advice, ratios."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from advice_by_processors import advice_table
from drawn_tables import drawn_section, live_section
from file_tables import files_section
from pages import percent, read_report, replaced, table
from rival_tables import live_tables, network_tables, rival_table, simulated_networks

REPORT = Path("benchmarks/reports/replayed_trials.json")
RIVALS = Path("benchmarks/reports/simulated_rivals.json")
POLICIES = Path("benchmarks/reports/simulated_policies.json")
LIVE = Path("benchmarks/reports/live_rivals.json")
RATIOS = Path("benchmarks/reports/ratio_value.json")
ADVICE = Path("benchmarks/reports/advice_by_processors.json")
PAGE = Path("docs/evaluation.md")


def main() -> None:
    """Writes the tables of all reports."""
    page = replaced(PAGE.read_text(), "replays", replays(read_report(REPORT)))
    page = replaced(page, "files", files_section())
    page = replaced(page, "drawn", drawn_section())
    page = replaced(page, "drawn-live", live_section())
    report = read_report(RIVALS)
    page = page if report is None else replaced(page, "rivals", rivals(report))
    policies = read_report(POLICIES)
    if policies is not None:
        page = replaced(page, "simulated-networks", simulated_networks(policies))
    live = read_report(LIVE)
    if live is not None:
        page = replaced(page, "live-rivals", live_tables(live))
        page = replaced(page, "live-networks", network_tables(live))
    advice = read_report(ADVICE)
    page = page if advice is None else replaced(page, "advice", f"\n{advice_table(advice)}\n")
    PAGE.write_text(replaced(page, "ratios", ratios(read_report(RATIOS)["rows"])))


def replays(report: Mapping[str, Any]) -> str:
    """How many workloads are censored, and the table."""
    numbers = Counter(one["records"] for one in report["censored"])
    kinds = dict.fromkeys(row["records"] for row in report["rows"])
    censored = ", ".join(f"{numbers[kind]} of {kind}" for kind in kinds)
    return f"\nCensored: {censored}.\n\n{replays_table(report['rows'])}\n"


def replays_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each kind of records, method and number of trials."""
    heads = ("records", "method", "trials", "mean regret", "its error", "median", "p90", "within 5 %", "of the trials")
    lines = []
    for row in rows:
        shown = [percent(row[name]) for name in ("regret_mean", "regret_mean_error", "regret_median", "regret_p90")]
        shares = [percent(row[name], 0) for name in ("within_5pct", "tried")]
        named = (f"{row['records']}, {row['workloads']}", f"`{row['method']}`", str(row["tries"]))
        lines.append((*named, *shown, *shares))
    return table(heads, lines)


def rivals(report: Mapping[str, Any]) -> str:
    """A table for each kind of workloads, the fewest trials first and then the least mean regret."""
    knows = report["knows"]
    parts = [f"What methods know: {knows['curves']} curves ({knows['source']}). Censored: {len(report['censored'])}.\n"]
    for kind, title in (("families", "Families left out"), ("compositions", "Compositions left out")):
        rows = [row for row in report["rows"] if row["kind"] == kind]
        if rows:
            parts.append(f"{title}, {rows[0]['workloads']} workloads:\n\n" + rival_table(rows))
    return "\n" + "\n".join(parts) + "\n"


def ratios(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for all ratios, for none, and for each."""
    lines = []
    for row in rows:
        left_out = [percent(row[name]) if name in row else "" for name in ("cost_of_leaving_out", "its_error")]
        lines.append((row["ratio"], percent(row["regret_alone"]), *left_out))
    return table(("ratio", "regret with it alone", "cost of leaving it out", "its error"), lines)


if __name__ == "__main__":
    main()
