"""What stands behind the `?` of `POST /v1/predict`: whether trials are asked for, and which tuples are of no use."""

import re
from dataclasses import dataclass, replace
from typing import Self

from starlette.datastructures import QueryParams

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.body import MOST_FORBIDDEN
from poolpilot.serve.service.refusals.problem import bad_parameter, check_names

TRIALS = "trials"
"""By which a tuner says that it measures what is named, and goes back."""

FORBIDDEN = "forbidden"
"""A tuple that whoever asks may not set; services of before look at none."""

SAID = {"true": True, "false": False}

TUPLE = "[0-9]{1,9}(,[0-9]{1,9}){2}"
"""How a tuple is written there: size, oversubscribe, stall limit."""


@dataclass(frozen=True)
class PredictionQuery:
    """The parameters of a prediction.

    Attributes:
        trials: Whether who asks will measure what is named, and go back.
        forbidden: Core values (size, oversubscribe, timer interval) of tuples that are not to be named.
    """

    trials: bool
    forbidden: frozenset[tuple[int, ...]]

    @classmethod
    def of(cls, parameters: QueryParams) -> Self:
        """Reads the parameters.

        Raises:
            Problem: One is unknown, or said in another way than the description has it.
        """
        check_names(parameters, (TRIALS, FORBIDDEN))
        said = parameters.getlist(TRIALS) or ["false"]
        if len(said) != 1 or said[0] not in SAID:
            raise bad_parameter(TRIALS, f"{TRIALS} may be {' or '.join(SAID)}, once")
        tuples = parameters.getlist(FORBIDDEN)
        if len(tuples) > MOST_FORBIDDEN or not all(re.fullmatch(TUPLE, one) for one in tuples):
            allowed = f"SIZE,OVERSUBSCRIBE,STALL_LIMIT in whole numbers, {MOST_FORBIDDEN} times at most"
            raise bad_parameter(FORBIDDEN, f"{FORBIDDEN} may be {allowed}")
        return cls(SAID[said[0]], frozenset(tuple(map(int, one.split(","))) for one in tuples))

    def within(self, limits: KnobSpace) -> KnobSpace:
        """The knobs of a server without what is forbidden."""
        return replace(limits, permits=self._permits) if self.forbidden else limits

    def _permits(self, pool_tuple: PoolTuple) -> bool:
        return pool_tuple.core not in self.forbidden
