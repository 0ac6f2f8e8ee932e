"""Writes the tables of docs/simulator.md on queueing networks, Cimba and the queues and latches of Wang (book).

How to run: `make bench-networks`, or `python benchmarks/networks_page.py [--reports benchmarks/reports]
[--page docs/simulator.md]` after `networks.py`, `mm1.py` and `queueing_seed.py` with `--json`. Results to expect: the
parts of the page between their markers are written anew; a part without a file stays as it is.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import read_report, replaced

Interval = Mapping[str, float]


def line(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def heading(*cells: str) -> list[str]:
    """The first two rows of a table."""
    return [line(*cells), "|---" * len(cells) + "|"]


def between(value: Interval, form: str = ",.1f") -> str:
    """A mean with its interval; what does not vary stands alone."""
    mean, low, high = (format(value[name], form) for name in ("mean", "low", "high"))
    return mean if low == high else f"{mean} ({low} .. {high})"


def networks_section(report: Sequence[Mapping[str, Any]]) -> str:
    """Costs on QGym's networks: published single runs in our range, then all policies."""
    lines = heading("network", "policy", "QGym publishes", "ours, mean (95 %)", "95 % of our runs", "cost more")
    for one in report:
        for policy in ("c-mu", "MaxWeight"):
            ours = one["ours"][policy]
            lines.append(
                line(
                    one["network"],
                    policy,
                    published(one["published"][policy]),
                    mean_cost(ours),
                    f"{ours['run_low']:.1f} .. {ours['run_high']:.1f}",
                    f"{ours['share_above']:.1%}",
                )
            )
    lines += ["", *heading("holding cost", *(one["network"] for one in report))]
    for policy in report[0]["ours"]:
        lines.append(line(policy, *(mean_cost(one["ours"][policy]) for one in report)))
    for policy in ("PPO", "PPO BC", "PPO WC"):
        lines.append(line(f"{policy}, published", *(published(one["published"][policy]) for one in report)))
    return "\n".join(lines) + "\n"


def mean_cost(cost: Mapping[str, float]) -> str:
    """Mean and half the 95 % interval."""
    return f"{cost['mean']:.2f} +-{cost['half_interval']:.2f}"


def published(cost: Mapping[str, float]) -> str:
    """As QGym writes it."""
    return f"{cost['cost']:,g} +-{cost['plus_minus']:g}"


def mm1_section(report: Mapping[str, Any]) -> str:
    """Customers of an M/M/1 queue a second, ours and Cimba's."""
    lines = heading("M/M/1, customers a second", "ours", "Cimba", "ratio (95 %)")
    for name, one in report["builds"].items():
        ratio = f"{one['ratio']:.2f} ({one['low']:.2f} .. {one['high']:.2f}), {one['pairs']} pairs"
        lines.append(line(f"Cimba's {name} build", f"{one['ours_per_s']:,.0f}", f"{one['cimba_per_s']:,.0f}", ratio))
    for name, why in report["absent"].items():
        lines.append(line(f"Cimba's {name} build", "", f"not measured: {why}", ""))
    return "\n".join([*lines, "", f"Published by its author: {report['published']}."]) + "\n"


def seed_section(report: Mapping[str, Any]) -> str:
    """The numbers of Wang (book) beside ours."""
    rows = [
        (
            f"network of 10 ms, {connections} connections: transactions a second; latency, ms",
            "constant",
            f"{between(one['rate'])}; {between(one['latency_ms'], ',.0f')}",
        )
        for connections, one in report["network"].items()
    ]
    rows += [
        (f"{one['latch']} latch, {one['threads']} threads: passes a second", f"{one['source']:,}", between(one["ours"]))
        for one in report["latches"]
    ]
    for cores, one in report["response"].items():
        rows.append((f"{cores} processors: knee", "near 60 %", between(one["knee"], ".0%")))
        rows.append((f"{cores} processors: response at 96 %, ms", "over 13", between(one["worst_ms"])))
    ours = f"ours ({report['seeds']} seeds, 95 %)"
    lines = [*heading("what", "Wang (book)", ours), *(line(*row) for row in rows), ""]
    return "\n".join([*lines, *coupled_lines(report["coupled"]), "", *response_lines(report["response"])]) + "\n"


def coupled_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The three latches together."""
    lines = heading("first latch", "clients of the first alone, second, third", "hiccup, s", "second", "third", "all")
    for one in rows:
        passed = one["passed_per_s"]
        lines.append(
            line(
                one["first"],
                ", ".join(str(count) for count in one["clients"].values()),
                f"{one['hiccup_s']:g}",
                *(between(passed[name]) for name in ("second", "third", "total")),
            )
        )
    return lines


def response_lines(report: Mapping[str, Mapping[str, Interval]]) -> list[str]:
    """Mean response over utilisation."""
    shares = [name for name in next(iter(report.values())) if name.startswith("at ")]
    lines = heading("mean response, ms", *(name.removeprefix("at ") for name in shares), "96%")
    for cores, one in report.items():
        lines.append(line(f"{cores} processors", *(f"{one[name]['mean']:.2f}" for name in (*shares, "worst_ms"))))
    return lines


SECTIONS: dict[str, Callable[[Any], str]] = {
    "networks": networks_section,
    "mm1": mm1_section,
    "queueing_seed": seed_section,
}


def main() -> None:
    """Writes every part whose file there is anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/simulator.md"))
    arguments = parser.parse_args()
    page = arguments.page.read_text()
    for name, section in SECTIONS.items():
        report = read_report(arguments.reports / f"{name}.json")
        if report is not None:
            page = replaced(page, name, section(report))
    arguments.page.write_text(page)


if __name__ == "__main__":
    main()
