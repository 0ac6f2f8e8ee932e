"""`poolpilot grants`: the statements that give a tuner its rights."""

from pathlib import Path

import typer
from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.env.output import write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.mariadb.actuator import PROCEDURE
from poolpilot.mariadb.grants import grants as grant_statements
from poolpilot.serve.commands.options.mariadb_options import ProcedureName


class GrantsSettings(ProgramSettings):
    """Settings of `poolpilot grants`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_GRANTS_")

    tuner: str = Field(
        default="poolpilot@localhost", description="Account that PoolPilot logs in as, such as poolpilot@10.%."
    )
    owner: str = Field(default="poolpilot_owner@localhost", description="Locked account that owns the privilege.")
    procedure: ProcedureName = Field(default=PROCEDURE, description="Schema and name of the procedure.")
    plain: bool = Field(
        default=False,
        description="Give the tuner CONNECTION ADMIN itself, which is far more, instead of the procedure.",
    )
    lease: bool = Field(
        default=False,
        description="Also let it keep a lease in the database (`poolpilot tune --lease event`).",
    )
    require_tls: bool = Field(default=False, description="Let the account in over TLS alone.")
    least_size: int = Field(default=1, ge=1, description="Least pool size that the procedure takes.")
    most_size: int = Field(default=128, ge=1, le=100_000, description="Greatest pool size that it takes.")
    most_oversubscribe: int = Field(default=64, ge=1, le=1000, description="Greatest oversubscribe.")


def grants(settings: GrantsSettings, json_path: Path | None) -> None:
    """Prints the statements.

    Raises:
        SettingError: A name is no account or procedure, or a range is empty.
    """
    statements = grant_statements(
        tuner=settings.tuner,
        owner=settings.owner,
        procedure=settings.procedure,
        plain=settings.plain,
        lease=settings.lease,
        require_tls=settings.require_tls,
        sizes=(settings.least_size, settings.most_size),
        most_oversubscribe=settings.most_oversubscribe,
    )
    typer.echo("\n".join(statements.values()), nl=False)
    write_json(json_path, dict(statements))
