"""The bearer tokens in force, and their file, which may be read again."""

from pathlib import Path

from poolpilot.serve.service.access.bearer_tokens import BearerTokens


class KnownTokens:
    """Tokens that can be replaced while requests are served.

    Attributes:
        tokens: Who may what; None lets everybody in.

    Args:
        path: Their file; None where there is none.

    Raises:
        SettingError: The file is refused.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.tokens: BearerTokens | None = None
        self.renew()

    def renew(self) -> None:
        """Reads the file again, where there is one.

        Raises:
            SettingError: The file is refused; the tokens that were in force still are.
        """
        if self._path is not None:
            self.tokens = BearerTokens.load(self._path)
