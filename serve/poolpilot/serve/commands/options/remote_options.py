"""Options by which a prediction service on another host is asked."""

from pathlib import Path

from pydantic import Field
from typing_extensions import override

from poolpilot.errors import SettingError
from poolpilot.serve.commands.options.target_options import TargetOptions, option
from poolpilot.serve.remote.service_link import ServiceLink, Trust

OF_THE_SERVICE = (
    "token_file",
    "remote_authority",
    "remote_certificate",
    "remote_key",
    "remote_digest",
)


class RemoteOptions(TargetOptions):
    """Which server a command tunes, and which service it may ask."""

    remote: str | None = option(
        None, "Ask this prediction service and report to it: https://HOST:PORT, http:// on loopback."
    )
    token_file: Path | None = option(None, "Holds its bearer token; mode 0600.")
    remote_authority: Path | None = option(
        None, "Who may have signed its certificate; the authorities of this host if not given."
    )
    remote_certificate: Path | None = option(None, "Certificate to show it.")
    remote_key: Path | None = option(None, "Key of that certificate.")
    remote_digest: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{8,64}$",
        description="Digest of the model that may answer, or its beginning; any if not given.",
    )
    remote_deadline_s: float = Field(
        default=2.0, gt=0.0, le=60.0, description="Seconds in which its answer must be there; else there is no advice."
    )

    @override
    def check(self) -> None:
        """Refuses settings that contradict one another; see `TargetOptions.check`.

        Raises:
            SettingError: They do; the text says which.
        """
        super().check()
        given = [name for name in OF_THE_SERVICE if getattr(self, name) is not None]
        if self.remote is None and given:
            raise SettingError(f"the setting {given[0]} is of a service: name one by --remote, or leave it out")

    def service_link(self) -> ServiceLink | None:
        """The way to the service; None where none is named.

        Raises:
            SettingError: Its address, the token or a certificate is of no use.
        """
        if self.remote is None:
            return None
        trust = Trust(self.token_file, self.remote_authority, self.remote_certificate, self.remote_key)
        return ServiceLink(self.remote, trust, self.remote_deadline_s)
