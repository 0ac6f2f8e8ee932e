"""`poolpilot restore`: restores what was in force before a command that was killed, or the incumbent of a tuner."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.env.output import introduce, terminal
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.restoration.mariadb_target import connect
from poolpilot.serve.commands.options.mariadb_options import StagingOptions


class RestoreSettings(StagingOptions):
    """Settings of `poolpilot restore`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_RESTORE_")

    forget: bool = Field(
        default=False,
        description="Leave what is in force, and take it for the beginning from now on.",
    )


def restore(settings: RestoreSettings, _: Path | None = None) -> None:
    """Brings back what a command has left, or says what it would bring back.

    Raises:
        SettingError: The DSN or the defaults file is wrong.
        ServerError: The server cannot be reached, refuses, or another tuner is at work.
        JournalError: The journal cannot be gone by.
    """
    console = terminal()
    with connect(settings.dsn, settings.defaults_file, settings.procedure) as server:
        restoration = MariadbRestoration(server)
        known = filter(None, [restoration.another_server()])
        introduce(server.reached, (*server.control.warnings, *known), console)
        try:
            if settings.forget:
                sentence = restoration.forget()
            elif settings.execute:
                sentence = restoration.resume()
            else:
                sentence = " ".join(restoration.warnings())
        finally:
            restoration.close()
        nothing = (
            f"No journal of this server lies in {restoration.folder} (the environment variable {FOLDER_VARIABLE} names "
            f"another folder), so nothing is to be restored. In force now: {server.tuple_in_force()}."
        )
        console.print(sentence or nothing, soft_wrap=True)
