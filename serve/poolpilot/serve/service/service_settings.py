"""Settings of the prediction service: file, then POOLPILOT_SERVE_* in the environment, then flags."""

import ipaddress
from pathlib import Path

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from poolpilot.env.program_settings import ProgramSettings


class ServeSettings(ProgramSettings):
    """Where the prediction service listens and what it bears."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SERVE_")

    host: str = Field(default="127.0.0.1", description="Loopback address to listen on.")
    port: int = Field(default=8750, ge=0, le=65_535, description="TCP port; 0 takes a free one.")
    model: Path | None = Field(
        default=None, description="Folder of a model artefact, in place of the champion for its kind of server."
    )
    body_limit_bytes: int = Field(default=262_144, ge=1024, description="Largest request body accepted.")
    header_timeout_s: float = Field(
        default=5.0, gt=0.0, description="Time a client has to send the headers of a request, from its first moment on."
    )
    body_timeout_s: float = Field(default=5.0, gt=0.0, description="Time a client has to send its body.")
    keep_alive_s: int = Field(default=5, ge=1, description="Time an idle connection is kept.")
    concurrency_limit: int = Field(
        default=64, ge=1, description="Requests in work above this are told 'unavailable', those for the health not."
    )
    connection_limit: int = Field(
        default=512, ge=1, description="Connections open at once; above it the longest idle one gives way."
    )

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
