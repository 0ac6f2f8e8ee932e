"""`poolpilot climb --search`."""

from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal

if TYPE_CHECKING:
    from poolpilot.serve.commands.search.search_settings import SearchRunSettings


def run(settings: "SearchRunSettings", json_path: Path | None) -> None:
    """Searches and shows what was found."""
    from poolpilot.serve.commands.search.search import search

    search(settings, terminal(), json_path)
