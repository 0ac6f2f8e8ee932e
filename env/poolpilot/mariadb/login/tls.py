"""Whether a connection to a server is encrypted and who must answer it, in the options of MariaDB's own clients.

Where none of them is given a connection over TCP is encrypted if the server offers it, and whoever answers is believed.
Where one asks for TLS a server without it is refused before anything is said, and where an authority is named its
certificate must be of that authority and for the host that was asked for; on this host its name may be another one,
if an authority is named by a file.
As with those clients the last option counts: `skip-ssl` before `ssl-ca` is overruled by it, behind it overrules it.
"""

import errno
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from poolpilot.env.loopback import is_loopback
from poolpilot.errors import ServerError, SettingError

ON = ("", "1", "on", "true")
OFF = ("0", "off", "false")

SWITCHES = ("ssl", "ssl-verify-server-cert")
FILES = {"ssl-ca": "authority", "ssl-capath": "authorities", "ssl-cert": "certificate", "ssl-key": "key"}
"""Options that name a file or a folder, and what of."""

KINDS_OF_TLS = ("ssl", "tls")
"""What the names of all options that are about TLS begin with."""


@dataclass(frozen=True, slots=True)
class Tls:
    """How a connection is to be encrypted.

    Attributes:
        wanted: Whether it must be, or must not be; None where it is up to the server.
        verifies: Whether the server must prove by its certificate who it is.
        authority: File of the authorities that may have signed it; those of the system if there is no folder either.
        authorities: Folder of such files.
        certificate: File of a certificate that the client shows; None shows none.
        key: File of its key; None where the certificate's file has it.
    """

    wanted: bool | None = None
    verifies: bool = False
    authority: Path | None = None
    authorities: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @classmethod
    def read(cls, options: Mapping[str, str]) -> Self:
        """Reads `ssl`, `ssl-ca`, `ssl-capath`, `ssl-cert`, `ssl-key` and `ssl-verify-server-cert`.

        Args:
            options: Those of a defaults file, by their names in full, in the order in which they count.

        Raises:
            SettingError: An option about TLS is none of these, a switch is neither on nor off, or there is a key
                without a certificate.
        """
        files = dict[str, Path]()
        wanted, verifies = None, None
        for name, value in options.items():
            if name in FILES and value:
                files[FILES[name]] = expanded(value)
                wanted = True
            elif name == "ssl":
                wanted = _switch(name, value)
            elif name == "ssl-verify-server-cert":
                verifies = _switch(name, value)
                wanted = True if verifies else wanted
            elif value and name not in FILES and name.startswith(KINDS_OF_TLS):
                raise SettingError(
                    f"the option {name} is not obeyed here, and TLS may be weaker without it; obeyed are "
                    f"{', '.join((*SWITCHES, *FILES))}: name a defaults file without it (F=FILE)"
                )
        if "key" in files and "certificate" not in files:
            raise SettingError("ssl-key is the key of a certificate: name that too, ssl-cert=FILE")
        if verifies is None:
            verifies = not files.keys().isdisjoint(("authority", "authorities"))
        return cls(wanted=wanted, verifies=verifies, **files)

    def context(self, host: str | None) -> ssl.SSLContext | None:
        """What to encrypt by; None where it is not asked for.

        Args:
            host: Whom to ask for; None on a socket.

        Raises:
            ServerError: A file cannot be read now, or holds no certificate or key.
        """
        if not self.wanted:
            return None
        try:
            return self._context(host)
        except OSError as error:
            named = [f"{name}={path}" for name, what in FILES.items() if (path := getattr(self, what)) is not None]
            reason = error.strerror or str(error)
            raise ServerError(f"no TLS by {', '.join(named) or 'the authorities of this host'}: {reason}") from error

    def kept(self, version: str) -> Self:
        """The same for a later connection to a server that was met with so much: what was encrypted stays so."""
        return replace(self, wanted=True) if version else self

    def open_to(self, host: str, version: str) -> str:
        """What somebody between here and the server could do to a connection, and what shuts him out.

        Args:
            host: Where the server is.
            version: What encrypts the connection; empty for nothing.

        Returns:
            A sentence; empty where he could do nothing.
        """
        if version and self.verifies:
            return ""
        if not version:
            return (
                f"what is said to {host} and what it answers is not encrypted: have the server offer TLS (ssl_cert and "
                "ssl_key in its my.cnf), and name the authority of its certificate here, ssl-ca=FILE under [client]"
            )
        return (
            f"the connection to {host} is encrypted by {version}, but whoever answers there is believed: name the "
            "authority of its certificate, ssl-ca=FILE under [client]"
        )

    def _context(self, host: str | None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.authority, capath=self.authorities)
        here = host is None or (is_loopback(host) and self.authority is not None)
        context.check_hostname = self.verifies and not here  # the system's authorities sign for everybody
        context.verify_mode = ssl.CERT_REQUIRED if self.verifies else ssl.CERT_NONE
        # Python 3.13 asks for extensions that certificates made as the manuals of MariaDB and MySQL say do not have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self.certificate is not None:
            show_certificate(context, self.certificate, self.key)
        return context


def show_certificate(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    """Has a client show a certificate.

    Raises:
        OSError: A file cannot be read, or holds no certificate or key, or the key is locked: by itself the library
            would ask for its passphrase at the terminal, where a service has none.
    """

    def locked() -> str:
        raise OSError(errno.EACCES, "the key is locked by a passphrase; name one that is not, of mode 0600")

    context.load_cert_chain(certificate, key, password=locked)


def expanded(text: str) -> Path:
    """A path of a defaults file or a DSN.

    Raises:
        SettingError: It begins with the home of somebody whom there is not.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise SettingError(f"there is no path {text}: {str(error)[:1].lower()}{str(error)[1:]}") from error


def _switch(name: str, value: str) -> bool:
    if value.lower() not in (*ON, *OFF):
        raise SettingError(f"{name} is {value!r} in the defaults file; allowed are ON and OFF")
    return value.lower() in ON
