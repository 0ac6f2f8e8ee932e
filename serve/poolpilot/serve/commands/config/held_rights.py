"""What an account may do, as the server tells the account itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from poolpilot.mariadb.session import Session

GRANT = re.compile(
    r"GRANT (?P<privileges>.+?) ON (?:(?P<kind>PROCEDURE|FUNCTION|PACKAGE(?: BODY)?) )?(?P<place>\S+) TO "
)
EVERYTHING = "ALL PRIVILEGES"
EVERYWHERE = "*.*"


@dataclass(frozen=True, slots=True)
class HeldRights:
    """The rights of an account.

    Attributes:
        rights: Privilege and place of each, places without backquotes; those of its default roles are among them.
    """

    rights: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, session: Session) -> Self:
        """Asks the server; every account may ask for its own.

        Raises:
            LostServerError: It is gone.
        """
        return cls.parse([str(row[0]) for row in session.rows("SHOW GRANTS")])

    @classmethod
    def parse(cls, lines: Sequence[str]) -> Self:
        """Reads what SHOW GRANTS says; roles that are only granted, and not in force, give nothing."""
        rights = set()
        for found in filter(None, map(GRANT.match, lines)):
            place = found["place"].replace("`", "").lower()
            rights |= {(privilege.strip().upper(), place) for privilege in found["privileges"].split(",")}
        return cls(frozenset(rights))

    def hold(self, privilege: str, place: str = EVERYWHERE) -> bool:
        """Whether the account has a privilege at a place: there itself, on all of its schema, or everywhere.

        Args:
            privilege: Such as EXECUTE.
            place: Such as poolpilot.apply_pool.
        """
        place = place.lower()
        places = {place, f"{place.partition('.')[0]}.*", EVERYWHERE}
        return any((each, where) in self.rights for each in (privilege, EVERYTHING) for where in places)
