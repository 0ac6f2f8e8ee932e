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

NOT_UNDER_RAY = (
    "tls_certificate",
    "tls_key",
    "tls_client_ca",
    "header_timeout_s",
    "read_timeout_s",
    "connection_limit",
)
"""What Ray's HTTP proxy does not do, or does more weakly: asks no client for a certificate, bounds no connection."""

OF_RAY = ("replicas", "replicas_per_node", "ray_address")


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
    openapi: bool = Field(default=False, description="Describe the service at /openapi.json.")
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
        default=5.0, gt=0.0, description="Time a client has to send the headers of a request, from its first moment on."
    )
    read_timeout_s: float = Field(
        default=10.0, gt=0.0, description="Time a client may leave answers unread before its connection is ended."
    )
    body_timeout_s: float = Field(default=5.0, gt=0.0, description="Time a client has to send its body.")
    keep_alive_s: int = Field(default=5, ge=1, description="Time an idle connection is kept.")
    concurrency_limit: int = Field(
        default=64, ge=1, description="Requests in work above this are told 'unavailable', those for the health not."
    )
    connection_limit: int = Field(
        default=512, ge=1, description="Connections open at once; above it the longest idle one gives way."
    )
    rate_per_s: float = Field(
        default=1000.0, gt=0.0, description="Requests a second of one token, or of one address where there are none."
    )
    rate_burst: int = Field(default=2000, ge=1, description="Requests of one client at once after a silence.")
    ray: bool = Field(
        default=False, description="Answer from several processes under Ray Serve, on loopback of each host; needs Ray."
    )
    replicas: int = Field(
        default=2, ge=1, le=256, description="Processes that answer, each with rates and limits of its own."
    )
    replicas_per_node: int | None = Field(default=None, ge=1, description="The most of them on one host of Ray.")
    ray_address: str | None = Field(
        default=None,
        description="Ray to join, such as 10.0.0.5:6379, or local to start one; if not given RAY_ADDRESS, else local.",
    )

    @field_validator("host")
    @classmethod
    def _is_address(cls, host: str) -> str:
        try:
            ipaddress.ip_address(LOCALHOST if host == "localhost" else host)
        except ValueError as error:
            raise ValueError(f"{host!r} is no address; give one, such as {LOCALHOST}, ::1 or 0.0.0.0") from error
        return host

    @model_validator(mode="after")
    def _fits_ray(self) -> Self:
        changed = [name for name, field in type(self).model_fields.items() if getattr(self, name) != field.default]
        alone = [name for name in OF_RAY if name in changed and not self.ray]
        if alone:
            raise SettingError(f"{alone[0]} is of the service under Ray: set ray too, or leave {alone[0]} out")
        if not self.ray:
            return self
        if not self.loopback:
            raise SettingError(
                f"{self.host} is not a loopback address: with ray the service listens on loopback alone; let a reverse "
                "proxy with TLS on each host pass requests on, or serve without ray"
            )
        weaker = [name for name in NOT_UNDER_RAY if name in changed]
        if weaker:
            raise SettingError(
                f"{weaker[0]} cannot be kept with ray, as Ray's HTTP proxy does not hold it: leave it out and let a "
                "reverse proxy on each host do so before the service, or serve without ray"
            )
        if self.port == 0:
            raise SettingError("port is 0: with ray every host listens on the same port, from 1 to 65535; name one")
        return self

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
