"""What a line of an option file says, byte by byte as MariaDB's clients read it.

They know bytes, not characters: a line is taken as Latin-1, where each byte is one character, and a value becomes text
at the end. So a file may hold any encoding that has ASCII in it, and a password stays the bytes that it was.
"""

import re
from dataclasses import dataclass

BLANKS = " \t\n\v\f\r\xa0"
"""What those clients take for blank; the last one is a byte, of whatever character it may be a part."""

ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
"""What they read behind a backslash in the value of an option; elsewhere it stands for itself."""

_BEFORE_COMMENT = re.compile(r"""(?:'(?:\\.|[^'])*(?:'|$)|"(?:\\.|[^"])*(?:"|$)|[^'"#])*""", re.DOTALL)
"""Of a line, all up to a # that is in no quotes."""

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Option:
    """One option as it is written.

    Attributes:
        name: Its name, in lower case and with hyphens, prefixes such as `loose-` included.
        value: What stands behind the =; None where there is none.
    """

    name: str
    value: str | None

    @classmethod
    def of(cls, line: str) -> "Option":
        """Reads a line that is neither empty nor a comment."""
        name, equals, value = _without_comment(line).partition("=")
        plain = name.strip(BLANKS).replace("_", "-").lower()
        return cls(as_text(plain), as_text(_value(value)) if equals else None)


def option_value(text: str) -> str:
    """What stands behind the = of an option as MariaDB's clients read it.

    A comment ends it, one pair of quotes around it falls away, and what is escaped is taken for what it means.
    """
    return _value(_without_comment(text))


def as_text(line: str) -> str:
    """The text of bytes that were taken as Latin-1; what is no UTF-8 stays in it as the bytes that it is."""
    return line.encode("latin-1").decode("utf-8", "surrogateescape")


def shown(text: object) -> str:
    """A text fit for any terminal: bytes that are no UTF-8 are told by their numbers."""
    return str(text).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _value(text: str) -> str:
    value = text.strip(BLANKS)
    if len(value) > 1 and value[0] == value[-1] and value[0] in ("'", '"'):
        value = value[1:-1]
    return _ESCAPE.sub(lambda found: ESCAPED.get(found[1], found[0]), value)


def _without_comment(line: str) -> str:
    found = _BEFORE_COMMENT.match(line)
    return line if found is None else found[0]
