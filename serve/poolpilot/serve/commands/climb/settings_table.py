"""The settings of the climber as a table and as JSON."""

from typing import Any

from rich.table import Table
from rich.text import Text

from poolpilot.env.climbing.spectral import NATIVE_NAMES, ClimbSettings
from poolpilot.native_pool import SpectralSettings
from poolpilot.serve.commands.climb.climb_run_settings import ENVIRONMENT_PREFIX


def setting_rows(settings: ClimbSettings) -> list[dict[str, Any]]:
    """One row for every setting, fit for tables and for JSON; an open range has no `high`.

    Args:
        settings: The defaults.
    """
    defaults = settings.native().as_dict()
    return [
        {
            "name": name,
            "alias": row["name"],
            "default": defaults[row["name"]],
            "unit": row["unit"],
            "low": row["low"],
            "high": row["high"] if row["high"] < float("inf") else None,
            "effect": row["effect"],
            "environment": f"{ENVIRONMENT_PREFIX}{name.upper()}",
        }
        for name, row in zip(NATIVE_NAMES, SpectralSettings.fields(), strict=True)
    ]


def settings_table(rows: list[dict[str, Any]]) -> Table:
    """The rows of `setting_rows` as people read them."""
    table = Table("name", "default", "unit", "range", "effect", title="Settings of the climber")
    table.caption = (
        f"--set NAME=VALUE, {ENVIRONMENT_PREFIX}<NAME> in the environment, or NAME = VALUE in the file of --config; "
        "the aliases that --json writes do as well"
    )
    for row in rows:
        table.add_row(row["name"], default_in_words(row), row["unit"], range_in_words(row), Text(row["effect"]))
    return table


def default_in_words(row: dict[str, Any]) -> str:
    """The default as text."""
    default = row["default"]
    return ("on" if default else "off") if isinstance(default, bool) else f"{default:g}"


def range_in_words(row: dict[str, Any]) -> str:
    """The range as text."""
    if isinstance(row["default"], bool):
        return "on, off"
    return f"from {row['low']:g}" if row["high"] is None else f"{row['low']:g} .. {row['high']:g}"
