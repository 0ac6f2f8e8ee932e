"""A configuration as people write it: three whole numbers, with or without brackets and spaces."""

import re

FORM = re.compile(r"\(?\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*\)?")


def written_core(text: str) -> tuple[int, int, int] | None:
    """Size, oversubscribe and stall limit in milliseconds; None where a text names no configuration.

    Examples:
        >>> written_core("(4, 3, 250)"), written_core("4,3,250"), written_core("stop")
        ((4, 3, 250), (4, 3, 250), None)
    """
    found = FORM.fullmatch(text.strip())
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
