"""What stands behind the `?` of a path: a name that nobody knows is refused, as a misspelt one changes the answer."""

from collections.abc import Collection

from starlette.datastructures import QueryParams

from poolpilot.featurizer.untrusted import LONGEST_NAME
from poolpilot.serve.service.refusals.problem import Problem


def check_names(parameters: QueryParams, known: Collection[str]) -> None:
    """Refuses parameters that a path does not have.

    Raises:
        Problem: There is one.
    """
    for name in parameters:
        if name not in known:
            raise bad_parameter(name[:LONGEST_NAME], f"there is no such parameter; this path has {', '.join(known)}")


def bad_parameter(name: str, detail: str) -> Problem:
    """The refusal of a parameter."""
    return Problem("bad_field", detail, f"query.{name}")
