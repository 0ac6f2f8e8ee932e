"""Bayesian optimisation: random rounds, then a Gaussian process and its upper confidence bound.

The loop is that of Yuanli Wang, "AutoTiKV: TiKV Tuning Made Easy by Machine Learning", PingCAP 2019: measure a tuple,
fit a process to all that was measured, ask next for the candidate whose mean plus k deviations is greatest. That bound
is how P. Auer, N. Cesa-Bianchi and P. Fischer weigh trying against using in "Finite-time Analysis of the Multiarmed
Bandit Problem", Machine Learning 47, 2002 (docs/references.md).
"""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.observations import MeasuredTuple
from poolpilot.agent.search.search_controller import Restart, SearchController
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.workload_mapping import WorkloadMapping
from poolpilot.agent.torch_threads import torch_threads
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.reasons import percent

with warnings.catch_warnings():
    # linear_operator compiles a function by a way that torch has deprecated.
    warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
    from botorch.exceptions.errors import ModelFittingError
    from botorch.exceptions.warnings import InputDataWarning, OptimizationWarning
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood  # type: ignore[import-untyped]
    from linear_operator.utils.warnings import NumericalWarning  # type: ignore[import-untyped]

Floats = NDArray[np.float64]

LEAST_POINTS = 2
"""Tuples that a Gaussian process needs; before that a round is random."""


@dataclass(frozen=True)
class Acquisition:
    """The candidates of a round as the process saw them.

    Attributes:
        candidates: The tuples drawn, n of them.
        mean: Posterior mean m of the target, (n,).
        deviation: Posterior standard deviation s, (n,).
        chosen: Index of the one that was asked for.
    """

    candidates: tuple[PoolTuple, ...]
    mean: Floats
    deviation: Floats
    chosen: int


class GaussianProcess:
    """A Gaussian process with BoTorch's default priors on standardised values, in double precision.

    Args:
        points: Points of the unit cube, (n, d).
        values: The target at each, (n,).
        seed: Seed of the restarts that a fit may take.
        threads: Threads of torch.
    """

    def __init__(self, points: Floats, values: Floats, seed: int, threads: int) -> None:
        self._threads = threads
        with torch_threads(threads), torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            # Values that are all alike cannot be standardised, and a flat likelihood has no optimum to report.
            for category in (InputDataWarning, OptimizationWarning, NumericalWarning):
                warnings.simplefilter("ignore", category)
            torch.manual_seed(seed)
            self._model = SingleTaskGP(torch.from_numpy(points), torch.from_numpy(values[:, None]))
            # Where no fit succeeds, the priors alone still tell near from far.
            with suppress(ModelFittingError):
                fit_gpytorch_mll(ExactMarginalLogLikelihood(self._model.likelihood, self._model))
            self._model.eval()

    def posterior(self, points: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the target, noise apart, at points (n, d): (n,) and (n,)."""
        with torch_threads(self._threads), torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            posterior = self._model.posterior(torch.from_numpy(points))
            mean, variance = posterior.mean[:, 0].numpy(), posterior.variance[:, 0].numpy()
        return mean, np.sqrt(np.maximum(variance, 0.0))


class BayesianOptimisation(SearchController):
    """Asks for the candidate of the greatest U = m + k s and ends on the measured tuple of the greatest m.

    Args:
        space: The knobs that vary.
        objective: What counts.
        settings: How tuples are chosen, what is maximised and when it ends.
        memory: Stored workloads, whose nearest one the process learns from too, as in OtterTune.
        restart: Restarts the server under a new tuple, where a knob that varies takes that.

    Raises:
        SettingError: A knob that varies takes a restart, and there is nothing that restarts the server.
    """

    def __init__(
        self,
        space: SearchSpace,
        objective: Objective,
        settings: BayesianSettings | None = None,
        memory: WorkloadMapping | None = None,
        restart: Restart | None = None,
    ) -> None:
        self.settings = settings or BayesianSettings()
        super().__init__(space, objective, self.settings, restart)
        self.least_rounds = self.settings.random_rounds
        self.acquisition: Acquisition | None = None
        """How the latest round was chosen; None while it was drawn."""
        self._memory = memory
        self._rng = np.random.default_rng(self.settings.seed)

    def _choose(self) -> tuple[PoolTuple, str]:
        measured = self.observations.eligible
        self.acquisition = None
        if self.rounds_done < self.settings.random_rounds or len(measured) < LEAST_POINTS:
            return self.space.draw(self._rng), "was drawn at random"
        # Candidates are drawn, as AutoTiKV does, and not climbed to: a knob with listed values has no gradient.
        candidates = tuple(self.space.draw(self._rng) for _ in range(self.settings.candidates))
        mean, deviation = self._process(measured).posterior(self.space.encode_all(candidates))
        best = int(np.argmax(mean + self.settings.deviations * deviation))
        self.acquisition = Acquisition(candidates, mean, deviation, best)
        return candidates[best], f"may be best: {self._expected(mean[best], deviation[best])}"

    def _expected(self, mean: float, deviation: float) -> str:
        """A posterior in words, against the best tuple so far."""
        best = self.observations.best
        over = mean - (mean if best is None else best.value)
        possible = percent(over + self.settings.deviations * deviation)
        return f"{percent(over)} against the best so far is expected, up to {possible} is possible"

    def _best(self) -> PoolTuple | None:
        measured = self.observations.eligible
        if len(measured) < LEAST_POINTS:
            return super()._best()
        # The process's mean and not the best measured: of many noisy values the best is too good.
        mean, _ = self._process(measured).posterior(self.space.encode_all([point.pool_tuple for point in measured]))
        best = max(range(len(measured)), key=lambda index: (measured[index].feasible, float(mean[index])))
        return measured[best].pool_tuple

    def _process(self, measured: Sequence[MeasuredTuple]) -> GaussianProcess:
        points = self.space.encode_all([point.pool_tuple for point in measured])
        values = np.array([point.value for point in measured])
        if self._memory is not None:
            metrics = np.stack([point.metrics for point in measured])
            points, values = self._memory.joined(points, metrics, values)
        return GaussianProcess(points, values, self.settings.seed, self.settings.threads)
