"""Rewrites what is measured of a production host, in docs/operations.md and docs/service.md.

That is the base installation, faults that were planted, how long a roll-back takes, services and writers of records
that are killed, and how many predictions a second one processor answers.
"""

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from pages import read_report, replaced

INSTALLATION = Path("benchmarks/reports/base_install.json")
KILLS = Path("benchmarks/reports/killed_service.json")
STORE_KILLS = Path("benchmarks/reports/killed_store.json")
ROLL_BACKS = Path("benchmarks/reports/roll_back_time.json")
FAULTS = Path("benchmarks/reports/faults.json")
RATE = Path("benchmarks/reports/service_rate.json")
TRIALS_RATE = Path("benchmarks/reports/service_rate_trials.json")
SOAK = Path("benchmarks/reports/service_soak.json")
PAGE = Path("docs/operations.md")
SERVICE_PAGE = Path("docs/service.md")
WIDTH = 118


def main() -> None:
    """Writes all parts."""
    page = replaced(PAGE.read_text(), "base-install", installation(read_report(INSTALLATION)))
    planted = read_report(FAULTS)
    page = page if planted is None else replaced(page, "faults", faults(planted))
    page = replaced(page, "roll-backs", roll_backs(read_report(ROLL_BACKS)))
    page = replaced(page, "store-kills", store_kills(read_report(STORE_KILLS)))
    PAGE.write_text(replaced(page, "kills", kills(read_report(KILLS))))
    soaked = read_report(SOAK)
    for_trials = read_report(TRIALS_RATE)
    answered = rate(read_report(RATE))
    answered += "" if for_trials is None else f"\n{rate(for_trials, ' --trials')}"
    answered += "" if soaked is None else f"\n{soak(soaked)}"
    SERVICE_PAGE.write_text(replaced(SERVICE_PAGE.read_text(), "rate", answered))


def installation(report: Mapping[str, Any]) -> str:
    """What a production host gets."""
    largest = ", ".join(f"{name} {size:.0f}" for name, size in report["largest_mb"].items())
    starts = report["starts"]
    nothing_s = starts.pop("python -c pass")["cpu_s"]
    commands = ", ".join(f"`{name}` {figures['cpu_s']:.2f} s" for name, figures in starts.items())
    text = (
        f"`python benchmarks/base_install.py`: the packages take {report['site_packages_mb']:.0f} MB, the largest of "
        f"them {largest}. The service holds {report['service']['resident_mb']:.0f} MB once its models are loaded. "
        f"Processor time until a command is done: {commands}; an empty interpreter takes {nothing_s:.2f} s. "
        f"The machine's load was {report['load_before']:.1f} when that was measured."
    )
    return fill(text, WIDTH) + "\n"


def kills(report: Mapping[str, Any]) -> str:
    """What became of outcomes when the service was killed."""
    text = (
        f"`python benchmarks/killed_service.py` ended the service with SIGKILL at {report['kills']} random moments, "
        f"with {report['acknowledged']} outcomes acknowledged: {report['lost']} lost, {report['written_twice']} "
        f"written twice; torn ends that nobody had been told of: {report['torn_ends']}."
    )
    return fill(text, WIDTH) + "\n"


def faults(report: Mapping[str, Any]) -> str:
    """What became of every fault."""
    lines = ["| fault | planted | held |", "|---|---|---|"]
    lines += [f"| {row['fault']} | {row['planted']} | {row['held']} |" for row in report["faults"]]
    return "\n".join(lines) + "\n"


def roll_backs(report: Mapping[str, Any]) -> str:
    """How long it takes to bring a configuration back, by what the server is doing."""
    lines = ["| load | median | 99th percentile | longest |", "|---|---|---|---|"]
    lines += [
        f"| {row['situation']} | {row['median_ms']:.0f} ms | {row['p99_ms']:.0f} ms | {row['greatest_ms']:.0f} ms |"
        for row in report["rows"]
    ]
    return "\n".join(lines) + "\n"


def store_kills(report: Mapping[str, Any]) -> str:
    """What became of records when their writers were killed."""
    same = "the same" if report["views_made_again_are_the_same"] else "NOT the same"
    text = (
        f"`python benchmarks/killed_store.py` ended writers of records with SIGKILL at {report['kills']} random "
        f"moments, with {report['acknowledged']} segments acknowledged: {report['lost']} lost, "
        f"{report['there_twice']} there twice, {report['torn']} torn; DuckDB's views, thrown away and made again, "
        f"were {same}."
    )
    return fill(text, WIDTH) + "\n"


def rate(report: Mapping[str, Any], options: str = "") -> str:
    """What one processor answers, and what is held before and after."""
    before, after = report["before"], report["after"]
    text = (
        f"`python benchmarks/service_rate.py --requests {report['requests']}{options}` on one of two processors of a "
        f"shared virtual machine, of which other programs used {report['others_processors']:.2f} meanwhile: "
        f"{report['predictions_per_s']:.0f} predictions a second over {report['connections']} kept connections, half "
        f"of them within {report['p50_ms']:.1f} ms and 99 % within {report['p99_ms']:.1f} ms; "
        f"{report['cpu_ms_per_request']:.2f} ms of the processor each. The service held {before['resident_mb']:.0f} MB "
        f"and {before['descriptors']} descriptors before and {after['resident_mb']:.0f} MB and {after['descriptors']} "
        "after."
    )
    return fill(text, WIDTH) + "\n"


def soak(report: Mapping[str, Any]) -> str:
    """What a long run leaves behind; how fast it was is not its business."""
    before, after = report["before"], report["after"]
    others = {status: count for status, count in report["statuses"].items() if status != "200"}
    text = (
        f"A soak, `--requests {report['requests']}`: {report['statuses']['200']} answers of status 200, "
        f"{sum(others.values())} others; {before['resident_mb']:.1f} MB and {before['descriptors']} descriptors "
        f"before, {after['resident_mb']:.1f} MB and {after['descriptors']} after."
    )
    return fill(text, WIDTH) + "\n"


if __name__ == "__main__":
    main()
