"""What makes a text fit for strangers: secrets are replaced, by what they are, where they stand and how they look.

What they are is known of the secrets that this host's files and environment hold. Where they stand is told by the name
before them, and how they look by what no word, path or number of ours looks like. Each alone would miss some.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poolpilot.env.program_settings import SECRET_NAME

REMOVED = "***"

LONG_ENOUGH_FOR_PLAIN = 8
"""Characters from which on a known secret is replaced inside of words too."""

_QUOTED = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"

_NAME = r"(?:pass(?:word|wd|phrase)|pwd|secret|token|credential|authorization|cookie|api[_-]?key)[\w-]{0,32}"

_GAP = r"\s{0,8}"

_BEHIND = (
    (r"-----BEGIN [^-]{0,64}-----.*?(?:-----END [^-]{0,64}-----|\Z)", ""),
    (r"(\b[a-z][\w+.-]{0,20}://)[^\s/@]{1,512}(?=@)", r"\1"),
    (r"\b((?:bearer|basic|digest)\s{1,8})[\w.~+/=:-]+", r"\1"),
    (
        rf"(identified\s{{1,8}}(?:by|(?:via|with)\s{{1,8}}\w{{1,64}}\s{{1,8}}(?:using|as|by))\s{{1,8}}"
        rf"(?:password{_GAP}\(?{_GAP})?)(?:{_QUOTED}|\S+)",
        r"\1",
    ),
    (r"(set\s{1,8}password[^=\n]{0,128}=)[^;\n]+", r"\1"),
    (rf"({_NAME}[\"']?{_GAP}[=:]{_GAP})(?:{_QUOTED}|\[[^\]]*\]|[^\s,;&]+)", r"\1"),
    (rf"(\bpassword{_GAP}\({_GAP})(?:{_QUOTED})", r"\1"),
    (rf"(--{_NAME}\s{{1,8}})(?!-)\S+", r"\1"),
    (r"(?<![\w=])((?-i:p)=)[^\s,]+", r"\1"),
    (r"(?<!\S)((?-i:-p))(?=\S)(?!ort\b)\S+", r"\1"),
)

_STANDING_BEHIND_A_NAME = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), f"{kept}{REMOVED}") for pattern, kept in _BEHIND
)
"""Secrets that what stands before them betrays: keys, addresses, headers, statements, settings, DSNs, flags.

Repeats are bounded wherever a match may begin at many places: a line of a megabyte takes no longer than it must.
"""

_LOOKING_LIKE_ONE = (
    re.compile(r"(?<![\w+=-])(?!\d+-MariaDB)(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])[\w+=-]{20,}"),
    re.compile(r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{16,}\b"),
)
"""Long runs of mixed characters, as tokens and keys are; a version of MariaDB is one too."""

_HEXADECIMAL = re.compile(r"\b([0-9a-fA-F]{8})[0-9a-fA-F]{24,}\b")
"""Digests, of which the beginning tells one model from another; a secret of that form keeps most of itself back."""


class Redaction:
    """Takes secrets out of texts and values.

    Args:
        known: Secrets that are known, each replaced wherever it stands.
    """

    def __init__(self, known: frozenset[str] = frozenset()) -> None:
        plain = [_pattern(one) for one in sorted(known, key=len, reverse=True) if one]
        self._known = re.compile("|".join(plain)) if plain else None
        home = str(Path.home())
        self._home = home if len(home) > 1 else None

    def text(self, text: str) -> str:
        """A text without secrets, and without the name of the user's folder."""
        if self._known is not None:
            text = self._known.sub(REMOVED, text)
        for pattern, instead in _STANDING_BEHIND_A_NAME:
            text = pattern.sub(instead, text)
        if self._home is not None:
            text = text.replace(self._home, "~")
        for looks in _LOOKING_LIKE_ONE:
            text = looks.sub(REMOVED, text)
        return _HEXADECIMAL.sub(r"\1...", text)

    def named(self, name: str, value: Any) -> Any:
        """The value of a setting; nothing of it where its name says that it is secret.

        The path of a file of secrets is none itself, as long as there is such a file.
        """
        if SECRET_NAME.search(name) and isinstance(value, str | bytes | list | tuple | Mapping) and value:
            is_path = isinstance(value, str) and name.lower().endswith("_file") and _is_there(value)
            return self.text(str(value)) if is_path else REMOVED
        return self.value(value)

    def value(self, value: Any) -> Any:
        """A value of JSON or TOML without secrets, at any depth."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.named(str(name), inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value if isinstance(value, bool | int | float | None) else self.text(str(value))

    def leaves_in(self, text: str) -> bool:
        """Whether a known secret stands in a text."""
        return self._known is not None and self._known.search(text) is not None


def _pattern(secret: str) -> str:
    """A secret anywhere; a short one as a word alone, since it may be part of many."""
    plain = re.escape(secret)
    return plain if len(secret) >= LONG_ENOUGH_FOR_PLAIN else rf"(?<!\w){plain}(?!\w)"


def _is_there(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False
