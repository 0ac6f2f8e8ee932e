"""Settings of the prediction service: file, then POOLPILOT_SERVE_* in the environment, then flags."""

import ipaddress
from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from poolpilot.env.loopback import is_loopback
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import SettingError

LOCALHOST = "127.0.0.1"

SEGMENT_BYTES = 67_108_864
"""Size of a file of outcomes above which the next one begins, unless somebody names another."""


class ServeSettings(ProgramSettings):
    """Where the prediction service listens and what it bears."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SERVE_")

    host: str = Field(default="127.0.0.1", description="Address to listen on; beyond loopback it needs tokens and TLS.")
    port: int = Field(default=8750, ge=0, le=65_535, description="TCP port; 0 takes a free one.")
    model: Path | None = Field(
        default=None, description="Folder that `poolpilot learn` has left, or of a network for its kind of server."
    )
    follow_every_s: float = Field(
        default=10.0,
        ge=0.0,
        le=86_400.0,
        description="Seconds between two checks of that folder: another model is loaded as by SIGHUP; 0 never checks.",
    )
    outcomes: Path | None = Field(
        default=None, description="Folder that what clients report to POST /v1/outcomes is kept in; none keeps nothing."
    )
    outcome_segment_bytes: int = Field(
        default=SEGMENT_BYTES, ge=1024, description="Size of a file of outcomes above which the next one begins."
    )
    token_file: Path | None = Field(
        default=None,
        description="File of mode 0600 with a line 'scope,scope token' for each bearer token; the scopes are predict, "
        "outcomes and admin.",
    )
    tls_certificate: Path | None = Field(default=None, description="PEM file of the certificate, and its chain.")
    tls_key: Path | None = Field(default=None, description="PEM file of its key, without a passphrase.")
    tls_client_ca: Path | None = Field(
        default=None, description="PEM file of the authorities whose certificates clients must show."
    )
    body_limit_bytes: int = Field(default=262_144, ge=1024, description="Largest request body accepted.")
    header_timeout_s: float = Field(
        default=5.0,
        gt=0.0,
        description="Time a client has for a handshake, and for the headers of a request after its last answer.",
    )
    read_timeout_s: float = Field(
        default=10.0, gt=0.0, description="Time a client may leave answers unread before its connection is ended."
    )
    body_timeout_s: float = Field(default=5.0, gt=0.0, description="Time a client has to send its body.")
    concurrency_limit: int = Field(
        default=64, ge=1, description="Requests in work above this are told 'unavailable', those for the health not."
    )
    rate_per_s: float = Field(
        default=1000.0, gt=0.0, description="Requests a second of one token, or of one address where there are none."
    )
    rate_burst: int = Field(default=2000, ge=1, description="Requests of one client at once after a silence.")

    @field_validator("host")
    @classmethod
    def _is_address(cls, host: str) -> str:
        try:
            ipaddress.ip_address(LOCALHOST if host == "localhost" else host)
        except ValueError as error:
            raise ValueError(f"{host!r} is no address; give one, such as {LOCALHOST}, ::1 or 0.0.0.0") from error
        return host

    @model_validator(mode="after")
    def _is_guarded(self) -> Self:
        # A SettingError passes through pydantic as it is: a ValueError here would be shown with all settings.
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise SettingError("TLS needs both tls_certificate and tls_key: name the other one too, or neither")
        if self.tls_client_ca is not None and self.tls_certificate is None:
            raise SettingError("tls_client_ca asks clients for certificates, which needs tls_certificate and tls_key")
        lacking = [name for name in ("token_file", "tls_certificate") if getattr(self, name) is None]
        if lacking and not self.loopback:
            raise SettingError(
                f"{self.host} is not a loopback address: beyond 127.0.0.1, ::1 and localhost the service listens with "
                f"bearer tokens and TLS only; set {' and '.join(lacking)}, or another host"
            )
        return self

    @property
    def loopback(self) -> bool:
        """Whether nobody on another host can reach it."""
        return is_loopback(self.host)
