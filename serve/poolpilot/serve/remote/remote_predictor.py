"""A predictor that asks a service; what it cannot trust in the answer is an error, so that the tuner abstains."""

import math
import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import RemoteError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.body import MOST_FORBIDDEN, MOST_WINDOWS, as_body
from poolpilot.serve.remote.service_link import ServiceLink

DIGEST = re.compile(r"[0-9a-f]{64}")
MOST_GAIN = math.log(1000.0)
"""A gain beyond a thousandfold is no estimate."""

ASKED_AGAIN = 3
"""Times a service is asked again at once where it names what is of no use."""

_Gain = Annotated[float, Field(ge=-MOST_GAIN, le=MOST_GAIN)]


class _Configuration(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    pool_size: int
    oversubscribe: int
    timer_interval_ms: int

    @property
    def core(self) -> tuple[int, int, int]:
        return self.pool_size, self.oversubscribe, self.timer_interval_ms


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    schema_version: int
    abstained: bool
    reasons: Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=32)]
    model_digest: str
    expected_gain: _Gain | None
    gain_low: _Gain | None
    gain_high: _Gain | None
    improvement: Annotated[float, Field(ge=0.0, le=1.0)] | None = None  # older services do not tell it
    most_gain: _Gain | None = None  # neither
    expires_s: Annotated[float, Field(gt=0.0, le=86_400.0)]
    pool_tuple: _Configuration
    in_force: _Configuration


class RemotePredictor:
    """Asks `POST /v1/predict`; see `Predictor`.

    A service does not know what the limits permit beside their ranges. Where it names what they do not, it is told and
    asked again, some times at once, and from then on it is told beforehand: whoever asks window by window is soon
    named something of use. Services of before do not listen, and are answered for as they are.

    Args:
        link: The way to the service.
        digest: Digest that the model must have, or its beginning; any if None.
        trials: Whether what is named will be measured and maybe rolled back; services of before advise all the same.
    """

    def __init__(self, link: ServiceLink, digest: str | None = None, *, trials: bool = False) -> None:
        self._link = link
        self._digest = digest
        self._trials = trials
        self._named_in_vain: deque[tuple[int, int, int]] = deque(maxlen=MOST_FORBIDDEN)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            RemoteError: The service does not answer in time, refuses, or its first answer cannot be trusted.
            SettingError: There is no window, or the token can no longer be read.
        """
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        # The gain is over the first window: where there are too many, those after it are left out.
        sent = [windows[0], *windows[1:][-(MOST_WINDOWS - 1) :]]
        ask = partial(self._ask, as_body(sent, limits, objective), windows[-1].pool_tuple, limits)
        prediction, asked_again = ask(), 0
        with suppress(RemoteError):  # it has answered once, and that is not lost where it fails when asked again
            while self._is_newly_in_vain(prediction, limits) and asked_again < ASKED_AGAIN:
                prediction, asked_again = ask(), asked_again + 1
        return prediction

    def _ask(self, body: object, in_force: PoolTuple, limits: KnobSpace) -> Prediction:
        told = [core for core in self._named_in_vain if not _permits(limits, in_force.with_core(core))]
        return self._checked(self._link.post(self._path(told), body), in_force, limits)

    def _is_newly_in_vain(self, prediction: Prediction, limits: KnobSpace) -> bool:
        """Whether what is named is of no use, and the service was not told so; it will be from now on."""
        named = prediction.pool_tuple
        if prediction.keeps or _permits(limits, named) or named.core in self._named_in_vain:
            return False
        self._named_in_vain.append(named.core)
        return True

    def _path(self, forbidden: Sequence[tuple[int, int, int]]) -> str:
        trials = [("trials", "true")] if self._trials else []
        query = urlencode([*trials, *(("forbidden", ",".join(map(str, core))) for core in forbidden)], safe=",")
        return f"/v1/predict?{query}" if query else "/v1/predict"

    def _checked(self, found: object, in_force: PoolTuple, limits: KnobSpace) -> Prediction:
        try:
            answer = _Answer.model_validate(found)
            named = in_force.with_core(answer.pool_tuple.core)
            if named != in_force:
                limits.check(named)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "body"
            raise RemoteError(f"{self._link.url} answers garbage: {place}: {first['msg']}") from error
        except SettingError as error:
            raise RemoteError(f"{self._link.url} names a configuration that cannot be: {error}") from error
        self._check_fits(answer, in_force)
        return Prediction(
            pool_tuple=named,
            in_force=in_force,
            abstained=answer.abstained,
            reasons=tuple(answer.reasons),
            model_digest=answer.model_digest,
            expected_gain=answer.expected_gain,
            gain_low=answer.gain_low,
            gain_high=answer.gain_high,
            expires_s=answer.expires_s,
            improvement=answer.improvement,
            most_gain=answer.most_gain,
        )

    def _check_fits(self, answer: _Answer, in_force: PoolTuple) -> None:
        url = self._link.url
        if answer.schema_version != SCHEMA_VERSION:
            raise RemoteError(f"{url} speaks schema {answer.schema_version}, this version {SCHEMA_VERSION}")
        if DIGEST.fullmatch(answer.model_digest) is None:
            raise RemoteError(f"{url} names no digest of a model: it must be 64 hexadecimal digits")
        if self._digest is not None and not answer.model_digest.startswith(self._digest):
            raise RemoteError(
                f"{url} answers by the model {answer.model_digest[:12]}, not by {self._digest[:12]}: give its digest "
                "by --set remote_digest=DIGEST once it may answer"
            )
        if answer.in_force.core != in_force.core:
            raise RemoteError(f"{url} answers about {answer.in_force.core}, while {in_force} is in force")


def _permits(limits: KnobSpace, named: PoolTuple) -> bool:
    return limits.permits is None or limits.permits(named)
