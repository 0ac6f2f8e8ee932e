"""`poolpilot search`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal
from poolpilot.serve.commands.options.settings_command import as_command

if TYPE_CHECKING:
    from poolpilot.serve.commands.search.search_settings import SearchRunSettings

HELP = (
    "Search for the best configuration of a MariaDB server in staging, or of an embedded pool, by trying some: "
    "Bayesian optimisation or random search over many knobs, numeric or with values to choose from.\n\n"
    "The first configuration returns at the end and after Ctrl-C, unless --keep; what was measured is printed all the "
    "same."
)


def build() -> Callable[..., None]:
    """The command `poolpilot search`."""
    from poolpilot.serve.commands.search.search_settings import PANELS, SearchRunSettings

    return as_command(SearchRunSettings, run, HELP, argument="dsn", panels=PANELS)


def run(settings: "SearchRunSettings", json_path: Path | None) -> None:
    """Searches and shows what was found."""
    from poolpilot.serve.commands.search.search import search

    search(settings, terminal(), json_path)
