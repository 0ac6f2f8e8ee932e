"""The advisor: the one that says what to set on a server, or keeps silent with a reason.

Whatever asks what to set asks this: `advise`, `climb --warm`, the tuner, the service, the demonstrations, the
evaluation. What it knows is a `Model`; which part of that answers is decided in `sources.py`.
"""

import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Ranking
from poolpilot.models.advisor.model import Model
from poolpilot.models.advisor.sources import advised, trials
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor

MOST_CANDIDATES = 3
"""Trials that are named at a time."""

NO_WINDOW = "a prediction needs at least one window; measure the configuration in force first"


class Purpose(StrEnum):
    """What becomes of an answer."""

    ADVICE = "advice"
    """It is followed unmeasured: it must be sure."""
    TRIAL = "trial"
    """It is measured, and taken back where it is worse; each trial is weighed."""
    WARM_START = "warm start"
    """The same, by who has a few trials to spend: rules may name one that promises nothing in numbers."""


class Advisor:
    """Ranks what may be set on a server; asked only through `rank`, or through `predict` for the first of it.

    Args:
        model: What was learned.
        purpose: What becomes of an answer unless a question says otherwise.
        server_view: Whether it is shown of a MariaDB what the server counts by itself, no latencies of clients, as in
            production.
        load: Loads the model again; None where it cannot be.

    Examples:
        >>> from poolpilot.env import sample_sweeps
        >>> from poolpilot.models import Advisor
        >>> sweep = sample_sweeps("page_faults")[0]
        >>> windows = sweep.entries[sweep.limits.default_tuple().core].windows[:1]
        >>> ranking = Advisor.load().rank(windows, sweep.limits, sweep.objective)
        >>> ranking.silence, ranking.candidates[0].pool_tuple.pool_size > 8
        (None, True)
    """

    def __init__(
        self,
        model: Model,
        purpose: Purpose = Purpose.ADVICE,
        *,
        server_view: bool = False,
        load: Callable[[], Model] | None = None,
    ) -> None:
        self.model = model
        self.loaded_unix_s = time.time()
        self.failure: str | None = None
        """Why the model could not be loaded again the last time; None where it could, or nobody has tried."""
        self._purpose = purpose
        self._server_view = server_view
        self._load = load

    @classmethod
    def load(
        cls,
        folder: Path | None = None,
        server_kind: ServerKind | None = None,
        purpose: Purpose = Purpose.ADVICE,
    ) -> Self:
        """The advisor of one kind of server, or of all, by what lies in a folder or what ships; see `Model.load`.

        Raises:
            FeatureError: Nobody has learned from such servers: they are tried by curves, but not advised.
            ArtefactError: The model or the curves are missing or damaged, or are for another kind of server.
        """
        to_try = server_kind is not None and purpose is not Purpose.ADVICE
        load = partial(Model.load, folder, server_kind, to_try=to_try)
        return cls(load(), purpose, load=load)

    @property
    def curves(self) -> ResponseCurves:
        """The known curves that it goes by, or those that ship where it asks networks alone."""
        return self.model.curves or load_curves()

    def renew(self) -> None:
        """Loads the model again; an answer is whole by the old one or whole by the new one.

        Raises:
            ArtefactError: It is missing or damaged, or answers otherwise than when it was saved; the old one stays.
        """
        if self._load is None:
            return
        try:
            model = self._load()
            model.check()
        except Exception as error:
            self.failure = str(error) or repr(error)
            raise
        self.model, self.failure = model, None
        self.loaded_unix_s = time.time()

    def rank(
        self,
        windows: Sequence[Window],
        limits: KnobSpace,
        objective: Objective,
        purpose: Purpose | None = None,
        most: int = MOST_CANDIDATES,
    ) -> Ranking:
        """What may be set, the most promising first; nothing, and why, where nothing is to be.

        Where windows of several tuples are given, as somebody has seen them who followed the advice, it never leads
        back to one of them.

        Args:
            windows: Measured windows of one workload, oldest first, at least one; the latest is in force.
            limits: The knobs of the server and their ranges.
            objective: What counts.
            purpose: What becomes of the answer, if not what this advisor is for.
            most: Candidates wanted at most; advice has one.

        Raises:
            SettingError: There is no window, or the limits allow no tuple.
        """
        if not windows:
            raise SettingError(NO_WINDOW)
        if self._server_view and windows[-1].server_kind == "mariadb":
            windows = [window.without_classes() for window in windows]
        asked_for = purpose or self._purpose
        if asked_for is Purpose.ADVICE:
            return Ranking(advised(self.model, windows, limits, objective))
        return trials(self.model, windows, limits, objective, most, has_some=asked_for is Purpose.WARM_START)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """The first of `rank`; see `Predictor.predict`."""
        return self.rank(windows, limits, objective, most=1).first

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> PoolTuple | None:
        """What a network that names trials alone would try beside what it named; see `ProbingPredictor.probe`."""
        if not windows:
            raise SettingError(NO_WINDOW)
        networks = self.model.networks_of(windows[-1].server_kind)
        if networks is None or not networks.alone:
            return None
        network = networks.knowing(windows, limits)
        return ScorePredictor.for_trials(network.artefact).probe(windows, limits, objective)
