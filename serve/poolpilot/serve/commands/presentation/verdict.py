"""What a prediction comes to, as people read it: a change, to leave it, or no advice and how to find out."""

from collections.abc import Iterator

from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import at_most_in_words, gain_in_words

FIND_OUT = "To find out by trying, in staging under a load like this; what is in force now comes back at the end:"
"""Stands above the lines of `trials`."""

OBSERVE_AGAIN = "To observe again once that is over:"
"""Stands above the line that observes again, where what was seen does not last."""


def verdict_rows(prediction: Prediction) -> Iterator[tuple[str, str]]:
    """Label and text of each row: the advice, what it promises, and why."""
    if prediction.most_gain is not None:
        yield "bound", at_most_in_words(prediction.most_gain)
    if prediction.verdict == "no advice":
        for number, reason in enumerate(prediction.reasons):
            yield ("and because", reason) if number else ("advice", f"no advice, because {reason}")
        return
    if prediction.verdict == "leave it":
        yield "advice", f"leave it at {prediction.pool_tuple}"
    else:
        yield "advice", f"{prediction.pool_tuple}"
        yield "expected", gain_in_words(prediction.expected_gain, prediction.gain_low, prediction.gain_high)
    for number, reason in enumerate(prediction.reasons):
        yield "" if number else "because", reason


def trials(server: str) -> tuple[str, ...]:
    """The lines that find the best tuple by trying; `server` is what names it on a command line."""
    return (f"poolpilot climb {server} --warm --execute", f"poolpilot climb {server} --sweep --execute")
