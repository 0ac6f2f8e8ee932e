"""`poolpilot why`: what a tuner decided lately, and why; above all why it did nothing."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table

from poolpilot.env.output import terminal, warn, write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import StoreError
from poolpilot.mariadb.restoration.journal import journal_folder
from poolpilot.models.advice.reasons import percent
from poolpilot.serve.commands.options.target_options import option
from poolpilot.serve.commands.presentation.exit_codes import REFUSED
from poolpilot.serve.commands.tune.account_table import account_table, account_values, score_line
from poolpilot.serve.commands.tune.replayed_log import ReplayedLog
from poolpilot.serve.page.gist import gist
from poolpilot.serve.shadow.shadow_score import score_of
from poolpilot.serve.tuner.decision_log import NAME, LoggedDecision, log_files, read_log
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Proposal
from poolpilot.serve.tuner.tuning_account import TuningAccount


class WhySettings(ProgramSettings):
    """Settings of `poolpilot why`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_WHY_")

    log: Path | None = Field(
        default=None,
        description="Folder of the decisions; the newest one of this host if not given.",
    )
    last: int = Field(default=20, ge=1, description="How many decisions.")
    report: bool = option(False, "Also add up what tuning did cost and bring.")
    replay: bool = option(False, "Also make each decision again of what it was made by.")
    shadow: bool = option(False, "Also compare the challenger with what acts.")


def why(settings: WhySettings, json_path: Path | None) -> None:
    """Prints the last decisions that said something new.

    Raises:
        Exit: A decision that is made again is another one.
        StoreError: There is no log, it cannot be read, or nothing of it can be replayed where that is asked for.
        SettingError: The table cannot be written.
    """
    folder = settings.log or newest_folder(journal_folder() / "decisions")
    damaged: list[str] = []
    rows = [as_row(line) for line in new_ones(decisions_in(folder, damaged.append))][-settings.last :]
    promised = ["expected"] if any(row["expected"] for row in rows) else []
    columns = ["when", "in_force", "state", *promised, "why"]
    headings = [name.replace("_", " ") for name in columns]
    table = Table(*headings, title=f"Decisions in {folder}", title_justify="left")
    for row in rows:
        table.add_row(*(row[name] for name in columns))
    console, values = terminal(), dict[str, Any](folder=str(folder), decisions=rows)
    console.print(table)
    warn([f"left out: {why_not}" for why_not in damaged], console)
    if settings.report:
        account = TuningAccount.of(decisions_in(folder))
        console.print(account_table(account))
        values["account"] = account_values(account)
    if settings.replay:
        again = ReplayedLog.of(log_files(folder))
        console.print(again.in_words(), soft_wrap=True)
        values["replay"] = asdict(again)
    if settings.shadow:
        score = score_of(decisions_in(folder))
        console.print(score_line(score), soft_wrap=True)
        values["shadow"] = score.as_dict()
    write_json(json_path, values)
    if settings.replay:
        again.check(folder)
        if again.differing:
            raise typer.Exit(REFUSED)


def newest_folder(folder: Path) -> Path:
    """The folder of the tuner that decided last.

    Raises:
        StoreError: There is none.
    """
    logs = sorted(folder.glob(f"*/{NAME}"), key=lambda path: path.stat().st_mtime)
    if not logs:
        raise StoreError(f"no tuner of this user has decided anything on this host: there is no log under {folder}")
    return logs[-1].parent


def decisions_in(folder: Path, on_damage: Callable[[str], None] = lambda _: None) -> Iterator[LoggedDecision]:
    """All decisions that are kept and can be read, oldest first.

    Args:
        folder: Where they lie.
        on_damage: Is told of each file that cannot be read, and of lines in the others.

    Raises:
        StoreError: There is no log, or the only one cannot be read.
    """
    files = log_files(folder)
    if len(files) == 1:
        yield from read_log(files[0], on_damage)
        return
    for path in files:
        try:
            yield from read_log(path, on_damage)
        except StoreError as error:
            on_damage(str(error))


def new_ones(lines: Iterable[LoggedDecision]) -> Iterator[LoggedDecision]:
    """The decisions whose state or reason differs from the one before, numbers that run on left out."""
    before: tuple[str, str] | None = None
    for line in lines:
        now = (line.decision.state, gist(line.decision.reason, hindered=bool(line.observation.hindrances)))
        if now != before and not line.decision.routine:
            yield line
        before = now


def as_row(line: LoggedDecision) -> dict[str, Any]:
    """A decision fit for a table and for JSON."""
    in_force = line.observation.in_force
    return {
        "when": datetime.fromtimestamp(line.observation.unix_s).astimezone().isoformat(" ", "seconds"),
        "unix_s": line.observation.unix_s,
        "in_force": "-" if in_force is None else str(in_force),
        "state": str(line.decision.state),
        "expected": _expected(line.observation.proposal),
        "why": line.decision.reason,
    }


def _expected(proposal: Proposal | None) -> str:
    """The gain that a predictor promised, with its interval where one is told; nothing where it gave no number."""
    if proposal is None or proposal.gain is None:
        return ""
    low, high = proposal.gain_low, proposal.gain_high
    if low is None or high is None or low == high:
        return percent(proposal.gain)
    return f"{percent(proposal.gain)} ({percent(low)} to {percent(high)})"
