"""Rewrites the measured parts of docs/evaluation.md: replayed trials, rivals on simulated machines, ratios."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced

REPORT = Path("benchmarks/reports/replayed_trials.json")
RIVALS = Path("benchmarks/reports/simulated_rivals.json")
RATIOS = Path("benchmarks/reports/ratio_value.json")
PAGE = Path("docs/evaluation.md")


def main() -> None:
    """Writes the tables of both reports."""
    page = replaced(PAGE.read_text(), "replays", table(read_report(REPORT)["rows"]))
    report = read_report(RIVALS)
    page = page if report is None else replaced(page, "rivals", rivals(report))
    PAGE.write_text(replaced(page, "ratios", ratios(read_report(RATIOS)["rows"])))


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each kind of records, method and number of trials."""
    heads = ("records", "method", "trials", "mean regret", "its error", "median", "p90", "within 5 %", "of the trials")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        shown = [percent(row[name]) for name in ("regret_mean", "regret_mean_error", "regret_median", "regret_p90")]
        shares = [percent(row[name], 0) for name in ("within_5pct", "tried")]
        cells = [f"{row['records']}, {row['workloads']}", f"`{row['method']}`", str(row["tries"]), *shown, *shares]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


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


def rivals(report: Mapping[str, Any]) -> str:
    """A table for each kind of workloads, the fewest trials first and then the least mean regret."""
    knows = report["knows"]
    parts = [f"What methods know: {knows['curves']} curves ({knows['source']}). Censored: {len(report['censored'])}.\n"]
    for kind, title in (("families", "Families left out"), ("compositions", "Compositions left out")):
        rows = [row for row in report["rows"] if row["kind"] == kind]
        if not rows:
            continue
        lines = [f"| {' | '.join(RIVAL_HEADS)} |", "|---" * len(RIVAL_HEADS) + "|"]
        for row in sorted(rows, key=lambda row: (row["tries"], row["regret_mean"])):
            lines.append(f"| {' | '.join(rival_cells(row))} |")
        parts.append(f"{title}, {rows[0]['workloads']} workloads:\n\n" + "\n".join(lines) + "\n")
    return "\n" + "\n".join(parts) + "\n"


def rival_cells(row: Mapping[str, Any]) -> list[str]:
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
    ]


def ratios(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for all ratios, for none, and for each."""
    lines = ["| ratio | regret with it alone | cost of leaving it out | its error |", "|---|---|---|---|"]
    for row in rows:
        left_out = [percent(row[name]) if name in row else "" for name in ("cost_of_leaving_out", "its_error")]
        lines.append(f"| {' | '.join([row['ratio'], percent(row['regret_alone']), *left_out])} |")
    return "\n".join(lines) + "\n"


def between(low: float | None, high: float | None, sign: str = "") -> str:
    """An interval of shares in per cent; a dash where none is known."""
    return "-" if low is None or high is None else f"{100 * low:{sign}.1f}..{100 * high:{sign}.1f} %"


if __name__ == "__main__":
    main()
