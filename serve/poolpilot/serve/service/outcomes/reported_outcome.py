"""What became of a prediction, as a client reports it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from poolpilot.models.body import REQUEST, Request, as_body
from poolpilot.models.prediction_request import RequestError, checked

OutcomeVerdict = Literal["kept", "rolled back", "not tried"]
"""Whether the configuration of the second window stayed, or was set and rolled back, or nothing was set."""

ROLLED_BACK: OutcomeVerdict = "rolled back"

ROLLED_BACK_BEFORE = "taken back"
"""How releases before 0.2.0 wrote `ROLLED_BACK`, in what they report and in what they have kept."""


def _of_today(verdict: object) -> object:
    return ROLLED_BACK if verdict == ROLLED_BACK_BEFORE else verdict


class OutcomeHead(BaseModel):
    """What a report says beside its request."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]
    server_id: Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]
    propensity: Annotated[float, Field(gt=0, le=1)]
    model_digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    verdict: Annotated[OutcomeVerdict, BeforeValidator(_of_today)]


@dataclass(frozen=True, slots=True)
class ReportedOutcome:
    """One report.

    Attributes:
        id: Name that the client gave it; a repeat of it says the same again.
        server_id: Name of the server, as the client calls it.
        propensity: Probability with which what was set had been chosen, above 0 and at most 1.
        model_digest: Digest of what had answered.
        verdict: What became of it.
        request: The window before and the window after, with limits and objective.
    """

    id: str
    server_id: str
    propensity: float
    model_digest: str
    verdict: OutcomeVerdict
    request: Request

    @classmethod
    def from_json(cls, found: object) -> Self:
        """Checks parsed JSON.

        Raises:
            RequestError: A field is missing, unknown, of the wrong type or outside its range.
        """
        if not isinstance(found, Mapping):
            raise RequestError(("body",), "the body must be a JSON object")
        if REQUEST not in found:
            raise RequestError(("body", REQUEST), f"the field {REQUEST!r} is missing: the windows before and after")
        head = _head({name: value for name, value in found.items() if name != REQUEST})
        request = checked(found)
        if len(request.windows) != 2:
            reason = f"there are {len(request.windows)} windows; an outcome has the one before and the one after"
            raise RequestError(("body", REQUEST, "windows"), reason)
        return cls(head.id, head.server_id, float(head.propensity), head.model_digest, head.verdict, request)

    def as_dict(self) -> dict[str, Any]:
        """The report fit for JSON, its identifier first."""
        return {
            "id": self.id,
            "server_id": self.server_id,
            "propensity": self.propensity,
            "model_digest": self.model_digest,
            "verdict": self.verdict,
            REQUEST: as_body(*self.request),
        }


def _head(values: Mapping[str, object]) -> OutcomeHead:
    try:
        return OutcomeHead.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RequestError(("body", *first["loc"]), first["msg"]) from error
