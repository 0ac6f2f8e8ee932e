"""The file of bearer tokens: who holds one may do what its scopes allow.

A line is `scope[,scope] token`; empty lines and those that begin with `#` say nothing. Several tokens may have one
scope, so that a new one can be given out before the old one goes.
"""

import hashlib
import hmac
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, get_args

from poolpilot.errors import SettingError
from poolpilot.serve.service.access.private_text import private_text

Scope = Literal["predict", "outcomes", "admin"]
"""What a token allows: to ask, to report outcomes, to have the models loaded again."""

SCOPES: tuple[Scope, ...] = get_args(Scope)

TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{43,512}={0,2}")
"""The alphabet of RFC 6750, of which so many characters hold 256 bits: nobody guesses one that was drawn."""

MAKE_ONE = "`openssl rand -base64 48` makes one"

LARGEST_FILE_BYTES = 65_536


class BearerTokens:
    """Tokens by their digests; the tokens themselves are not kept.

    Args:
        path: Their file; None where there is none, and whoever asks is let in.

    Raises:
        SettingError: The file is refused; see `renew`.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._scopes: Mapping[bytes, frozenset[Scope]] = {}
        self.renew()

    @property
    def needed(self) -> bool:
        """Whether somebody without a token is refused."""
        return self._path is not None

    def renew(self) -> None:
        """Reads the file again, where there is one.

        Raises:
            SettingError: It cannot be read, others may read it, or a line is no line of tokens; no token is repeated.
                The tokens that were in force still are.
        """
        if self._path is not None:
            self._scopes = _scopes(self._path)

    def scopes_of(self, token: str) -> tuple[bytes, frozenset[Scope]] | None:
        """The digest of a token and what it allows; None where nobody was given it.

        Every digest is compared, each in constant time: how long it takes tells nothing about a token.
        """
        digest = _digest(token)
        found = None
        for known, scopes in self._scopes.items():
            if hmac.compare_digest(known, digest):
                found = known, scopes
        return found


def _scopes(path: Path) -> Mapping[bytes, frozenset[Scope]]:
    """What each token allows, by its digest."""
    found: dict[bytes, frozenset[Scope]] = {}
    for number, line in enumerate(private_text(path, LARGEST_FILE_BYTES).splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            digest, allowed = _line(f"line {number} of {path}", line.split())
            if digest in found:
                raise SettingError(f"line {number} of {path} gives a token for the second time; give it once")
            found[digest] = allowed
    if not found:
        raise SettingError(f"{path} holds no token; write a line 'predict TOKEN' ({MAKE_ONE})")
    return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _line(where: str, words: Collection[str]) -> tuple[bytes, frozenset[Scope]]:
    if len(words) != 2:
        raise SettingError(f"{where} is not 'scope[,scope] token', with scopes of {', '.join(SCOPES)}")
    listed, token = words
    named = listed.split(",")
    scopes = frozenset(scope for scope in SCOPES if scope in named)
    if len(scopes) != len(named):
        raise SettingError(f"{where} names an unknown scope or one twice; the scopes are {', '.join(SCOPES)}")
    if not TOKEN.fullmatch(token):
        raise SettingError(f"{where} holds no token of 43 to 512 letters, digits and -._~+/; {MAKE_ONE}")
    return _digest(token), scopes
