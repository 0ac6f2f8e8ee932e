"""Settings of the prediction service: file, then POOLPILOT_SERVE_* in the environment, then flags."""

import ipaddress
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from poolpilot.featurizer.errors import SettingError


class ServeSettings(BaseSettings):
    """Where the prediction service listens and what it bears."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SERVE_", frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", description="Loopback address to listen on.")
    port: int = Field(default=8750, ge=0, le=65_535, description="TCP port; 0 takes a free one.")
    model: Path | None = Field(default=None, description="Folder of the model artefact; without it the champion.")
    body_limit_bytes: int = Field(default=262_144, ge=1024, description="Largest request body accepted.")
    body_timeout_s: float = Field(default=5.0, gt=0.0, description="Time a client has to send its body.")
    keep_alive_s: int = Field(default=5, ge=1, description="Time an idle connection is kept.")
    concurrency_limit: int = Field(default=64, ge=1, description="Connections above this are told 'unavailable'.")

    @field_validator("host")
    @classmethod
    def _loopback_only(cls, host: str) -> str:
        try:
            loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            loopback = False
        if not loopback:
            raise ValueError(
                f"{host} is not a loopback address; the service has neither token nor TLS, so it listens on "
                "127.0.0.1, ::1 or localhost alone"
            )
        return host

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Orders the sources: flags, environment, file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @classmethod
    def load(cls, file: Path | None, **flags: Any) -> "ServeSettings":
        """Merges the file, the environment and the flags that are not None.

        Args:
            file: TOML file whose top level holds fields of this model.
            flags: Fields given on the command line.

        Raises:
            SettingError: The file is missing or broken, or a value is refused.
        """
        if file is not None and not file.is_file():
            raise SettingError(f"there is no settings file {file}")
        from_file = type(cls.__name__, (cls,), {"model_config": SettingsConfigDict(toml_file=file)})
        try:
            settings: ServeSettings = from_file(**{name: flag for name, flag in flags.items() if flag is not None})
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            reason = first["msg"].removeprefix("Value error, ")
            raise SettingError(f"setting {name!r} of the service: {reason}") from error
        except ValueError as error:
            raise SettingError(f"the settings file {file} is not TOML: {error}") from error
        return settings
