"""What `poolpilot why --report` and `--shadow` print: what tuning did cost and bring, and how a challenger did."""

import math
from typing import Any

from rich.table import Table

from poolpilot.serve.shadow.shadow_score import ShadowScore
from poolpilot.serve.tuner.tuning_account import Tallied, TuningAccount


def account_values(account: TuningAccount) -> dict[str, Any]:
    """The account fit for JSON."""
    return {
        "trials": account.trials,
        "kept": account.kept,
        "most_lost": account.most_lost,
        "lost": _values(account.lost),
        "gained": _values(account.gained),
        "windows": account.windows,
        "judged_windows": account.judged,
    }


def account_table(account: TuningAccount) -> Table:
    """The account as people read it."""
    table = Table(title="Against never touching anything", show_header=False, title_justify="left")
    table.add_row("trials", f"{account.trials}, of which {account.kept} were kept")
    table.add_row("they could cost at most", f"{account.most_lost:.0f} requests")
    table.add_row("they did cost", _shown(account.lost))
    table.add_row("what was kept has brought", _shown(account.gained))
    table.add_row("windows", f"{account.windows}; of {account.judged} it is known what was kept has brought")
    return table


def score_line(score: ShadowScore) -> str:
    """How the challenger did, as sentences."""
    if score.failed and not score.questions:
        return f"Shadow: no decision can be compared; to {score.failed} the challenger had no answer (see the log)."
    if not score.questions:
        return "Shadow: no decision can be compared; name one by `poolpilot tune --set challenger=FOLDER`."
    counts = score.counts
    ends = "no interval from one workload"
    if math.isfinite(score.low):
        ends = f"95 % interval {_percent(score.low)} to {_percent(score.high)}"
    return (
        f"Shadow: {_percent(score.mean)} ({ends}) by the challenger; {len(score.questions)} decisions, of which "
        f"{counts['agreed']} alike, {counts['measured']} by what was measured and {counts['expected']} by the known "
        f"curves; {score.unknown} cannot be compared, and to {score.failed} it had no answer. So {score.verdict()}."
    )


def _values(tallied: Tallied) -> dict[str, float]:
    low, high = tallied.interval
    return {"requests": tallied.requests, "low": low, "high": high}


def _shown(tallied: Tallied) -> str:
    low, high = tallied.interval
    return f"{tallied.requests:.0f} requests (95 % interval {low:.0f} to {high:.0f})"


def _percent(logarithm: float) -> str:
    return f"{100.0 * math.expm1(min(logarithm, 20.0)):+.1f} %"
