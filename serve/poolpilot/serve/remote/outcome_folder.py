"""A folder on this host in the place of a service: it keeps what became of trials as a service does."""

from poolpilot.errors import RefusedForGoodError, TakenNameError
from poolpilot.models.prediction_request import RequestError
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome


class OutcomeFolder:
    """Takes what a service takes at `POST /v1/outcomes`; see `ServiceLink.post`.

    Args:
        log: Where outcomes are kept; for one thread at a time.
    """

    def __init__(self, log: OutcomeLog) -> None:
        self._log = log

    def post(self, _path: str, body: object) -> None:
        """Keeps a report; when this returns it is on disk.

        Raises:
            RefusedForGoodError: It is no outcome, or has the identifier of another one.
            StoreError: It could not be written now.
        """
        try:
            self._log.append(ReportedOutcome.from_json(body))
        except (RequestError, TakenNameError) as error:
            raise RefusedForGoodError(str(error)) from error
