"""The settings of the climber as a table and as JSON."""

from typing import Any

from rich.table import Table
from rich.text import Text

from poolpilot.env.climbing.spectral_settings import ENVIRONMENT_PREFIX, SpectralModel
from poolpilot.native_pool import SpectralSettings


def setting_rows(model: type[SpectralModel]) -> list[dict[str, Any]]:
    """One row for every setting, fit for the table and for JSON; an open range has no `high`."""
    return [
        {
            "name": row["name"],
            "default": model.model_fields[row["name"]].default,
            "unit": row["unit"],
            "low": row["low"],
            "high": row["high"] if row["high"] < float("inf") else None,
            "effect": row["effect"],
            "environment": f"{ENVIRONMENT_PREFIX}{row['name'].upper()}",
        }
        for row in SpectralSettings.fields()
    ]


def settings_table(rows: list[dict[str, Any]]) -> Table:
    """The rows of `setting_rows` as people read them."""
    table = Table("name", "default", "unit", "range", "effect", title="Settings of the climber")
    table.caption = f"--set NAME=VALUE, {ENVIRONMENT_PREFIX}<NAME> in the environment, or NAME = VALUE in --settings"
    for row in rows:
        table.add_row(row["name"], _shown(row["default"]), row["unit"], _range(row), Text(row["effect"]))
    return table


def _range(row: dict[str, Any]) -> str:
    if isinstance(row["default"], bool):
        return "on, off"
    return f"from {row['low']:g}" if row["high"] is None else f"{row['low']:g}..{row['high']:g}"


def _shown(value: float) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:g}"
