"""`poolpilot page`: the live page for every tuner whose log lies in a folder, running or ended."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.env.output import terminal
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import SettingError
from poolpilot.mariadb.restoration.journal import journal_folder


class PageSettings(ProgramSettings):
    """Settings of `poolpilot page`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_PAGE_")

    folder: Path | None = Field(
        default=None,
        description="Folder of the logs; where tuners of this user keep them if not given.",
    )
    port: int = Field(default=8760, ge=0, le=65_535, description="Port on loopback; 0 is any that is free.")


def page(settings: PageSettings, _: Path | None = None) -> None:
    """Serves the page until it is interrupted.

    Raises:
        SettingError: The folder that was named is none.
        ServerError: The port cannot be had.
    """
    from poolpilot.serve.page.page_server import PageServer

    if settings.folder is not None and not settings.folder.is_dir():
        raise SettingError(f"there is no folder {settings.folder}: name one that `poolpilot tune --log` writes to")
    folder = settings.folder or journal_folder() / "decisions"
    server = PageServer(folder, settings.port, plays=True)
    terminal().print(f"Decisions in {folder}: {server.url} (Ctrl-C ends)", soft_wrap=True)
    server.run()
