"""What is measured of a production host, in docs/operations.md and docs/service.md."""

from collections.abc import Mapping
from typing import Any

from page_tables.part import Part, table

OTHER = "anything else"
KILLED = {"service": "service, outcomes", "store": "collector, segments of records"}
FAULTS_OF = {
    "the tuner is killed, stopped, ended, or cannot start": (
        "killed tuner",
        "stopped tuner",
        "ended tuner",
        "start ",
        "tuple ",
    ),
    "the keeper is killed": ("a keeper",),
    "the database is killed, restarted, lost, switched over or full": (
        *("a database", "restarted server", "lost connection", "switchover", "a pool", "limit of threads", "a load"),
        "tuner that sets nothing",
    ),
    "a service is slow, down or wrong": ("a service",),
    "a disk is full, a clock jumps": ("a full disk", "a clock"),
    "a person or a second tuner sets the pool": ("person", "second tuner"),
}
"""What fails, with how the names of its faults begin."""


def faults(report: Mapping[str, Any]) -> str:
    """What became of the faults, by what fails."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in (*FAULTS_OF, OTHER)}
    for row in report["faults"]:
        found[kind_of(row["fault"])].append(row)
    cells = [
        (name, len(of_kind), sum(row["planted"] for row in of_kind), sum(row["held"] for row in of_kind))
        for name, of_kind in found.items()
        if of_kind
    ]
    return table(("what fails", "ways", "planted", "held"), [map(str, row) for row in cells])


def kind_of(fault: str) -> str:
    """What fails in a fault."""
    return next((name for name, begins in FAULTS_OF.items() if fault.startswith(begins)), OTHER)


def roll_backs(report: Mapping[str, Any]) -> str:
    """How long it takes to bring a configuration back, by what the server is doing."""
    measures = ("median_ms", "p99_ms", "greatest_ms")
    rows = [[row["situation"], *(f"{row[name]:.0f} ms" for name in measures)] for row in report["rows"]]
    return table((f"load ({report['times']} times each)", "median", "99th percentile", "longest"), rows)


def kills(report: Mapping[str, Any]) -> str:
    """What became of outcomes and records when their writers were killed."""
    fields = ("kills", "acknowledged", "lost", "there_twice")
    rows = [(title, *(str(report[name][field]) for field in fields)) for name, title in KILLED.items()]
    return table(("writer", "killed", "acknowledged", "lost", "there twice"), rows)


def rates(report: Mapping[str, Any]) -> str:
    """What one processor answers, and what is held before and after."""
    heads = ("requests", "a second", "median", "99th percentile", "processor each", "memory before, after", "not 200")
    return table(heads, map(rate_cells, report["rows"]))


def rate_cells(report: Mapping[str, Any]) -> list[str]:
    """How a service did."""
    held = ", ".join(f"{report[when]['resident_mb']:.0f} MB" for when in ("before", "after"))
    return [
        f"{report['requests']:,}",
        f"{report['predictions_per_s']:,.0f}",
        f"{report['p50_ms']:.1f} ms",
        f"{report['p99_ms']:.1f} ms",
        f"{report['cpu_ms_per_request']:.2f} ms",
        held,
        str(report["requests"] - report["statuses"]["200"]),
    ]


PAGE = "docs/operations.md"
PARTS = (
    Part(PAGE, "faults", ("faults",), faults),
    Part(PAGE, "roll-backs", ("roll_back_time",), roll_backs),
    Part(PAGE, "kills", ("kills",), kills),
    Part("docs/service.md", "rate", ("service",), rates),
)
