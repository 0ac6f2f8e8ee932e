"""Tables of evaluations of workloads whose compositions were drawn; `file_tables.py` keeps a report for each seed."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from file_tables import (
    BESIDE,
    CLEAN,
    COMPARED,
    CONSTANTS,
    DRAWN,
    IN_TIME,
    LIVE,
    OURS,
    REPORTS,
    costs_table,
    counted,
    methods_table,
)
from pages import percent, read_report
from paired_shares import Report, Shares, ahead, capped_shares, goodput_shares, judged
from poolpilot.pipelines.evaluate.live.judging.live_result import AGAIN, REFERENCE

HOLDS = 0.95
"""Share of the reference's goodput from which on a choice counts as good."""

MET = 0.1
"""Share of the reference's requests in time from which on a target counts as one that can be met."""


def drawn_section() -> str:
    """What every method is worth on compositions that were drawn."""
    report = read_report(REPORTS / f"{DRAWN}.json")
    reports = {"simulated": report}
    beside = {name: found for name in BESIDE if (found := read_report(REPORTS / f"{name}.json")) is not None}
    head = counted(reports) + capped_line(report) + parts_lines(report)
    for name, other in beside.items():
        found = f"{other['workloads']} workloads, {len(other['censored'])} censored"
        head += capped_line(other, f"the same of seed {BESIDE[name]} ({found})") + parts_lines(other)
    clean = [report, *(other for name, other in beside.items() if name in CLEAN)]
    head += ahead_line(clean, "of the seeds that nothing was chosen by")
    return section(head + ahead_line([report, *beside.values()], "of all these seeds"), reports)


def live_section() -> str:
    """What the methods are worth on compositions that were drawn for the embedded pool."""
    report = read_report(REPORTS / f"{LIVE}.json")
    reports = {"native": report}
    head = counted(reports) + capped_line(report) + parts_lines(report) + ahead_line([report], "of them")
    return section(head, reports)


def section(head: str, reports: Mapping[str, Report]) -> str:
    """What is said of reports, with the tables of methods and of what they cost."""
    return "\n" + "\n".join([head, methods_table(reports), costs_table(reports)]) + "\n"


def capped_line(report: Report, head: str = "where none counts above the reference") -> str:
    """Goodputs over the reference's where none counts above it: one tuple that the sweep has misjudged tells little."""
    capped = means(report, capped_shares(report))
    best = sorted(capped, key=lambda name: (-capped[name], name))
    return f"* {head}: {', '.join(f'`{name}` {capped[name]:.2f}' for name in best)}\n"


def parts_lines(report: Report) -> str:
    """The same where three constants are good, by which they are favoured, and where the target can be met at all."""
    shares = capped_shares(report)
    held = [each for each in shares if each[CONSTANTS] >= HOLDS]
    met = [each for each, result in zip(shares, judged(report), strict=True) if (result.get(IN_TIME) or 0.0) >= MET]
    return part_line(report, held, f"where `{CONSTANTS}` has {HOLDS:g} of it or more") + part_line(
        report, met, f"where the reference has {percent(MET, 0)} of its requests in time or more"
    )


def part_line(report: Report, part: Sequence[Shares], head: str) -> str:
    """Goodputs of the warm start and three constants on a part of the workloads; nothing where there is none."""
    if not part:
        return ""
    mean = means(report, part)
    found = (f"`{name}` {mean[name]:.2f} (least {min(each[name] for each in part):.2f})" for name in (OURS, CONSTANTS))
    return f"    * {head}, {len(part)} of {len(goodput_shares(report))}: {', '.join(found)}\n"


def ahead_line(reports: Sequence[Report], where: str) -> str:
    """What the warm start has more than other methods, workload by workload, over all reports together."""
    found = [each for report in reports for each in capped_shares(report)]
    others = [name for name in COMPARED if name != OURS and all(name in each for each in found)]
    pairs = (f"than `{name}` {ahead(reports, OURS, name)}" for name in others)
    return f"* `{OURS}` has more on the {len(found)} workloads {where}, pair by pair: {', '.join(pairs)}\n"


def means(report: Report, shares: Sequence[Shares]) -> dict[str, float]:
    """Mean of every method over some workloads."""
    names = [name for name in report["methods"] if name not in (REFERENCE, AGAIN)]
    return {name: fmean(each[name] for each in shares) for name in names}
