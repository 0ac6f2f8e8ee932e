"""What a search varies, what it holds and why, and what it knows of stored workloads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchController
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.stored_workload import StoredWorkload, stored_workloads
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.tuning.target import Target
from poolpilot.mariadb.server.mariadb_server import knobs_to_try
from poolpilot.serve.commands.search.knob_option import KnobOption, range_of, space_of
from poolpilot.serve.commands.search.search_settings import SearchRunSettings

if TYPE_CHECKING:
    from poolpilot.agent.search.knob_ranking import RankedKnob


@dataclass(frozen=True)
class SearchPlan:
    """A search that has not begun.

    Attributes:
        settings: What was asked for.
        space: The knobs that vary.
        stored: The stored workloads as points of that space; none without a store.
        ranking: The knobs asked for, ranked by the stored workloads; none without a store.
        left_out: Why a knob asked for does not vary, by name.
    """

    settings: SearchRunSettings
    space: SearchSpace
    stored: tuple[StoredWorkload, ...] = ()
    ranking: tuple["RankedKnob", ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def controller(self, target: Target) -> SearchController:
        """The search on a server."""
        settings = self.settings
        if settings.method == "random":
            return RandomSearch(self.space, target.objective, settings.search)
        from poolpilot.agent.search.bayesian import BayesianOptimisation
        from poolpilot.agent.search.workload_mapping import WorkloadMapping

        memory = WorkloadMapping(self.stored) if self.stored else None
        return BayesianOptimisation(self.space, target.objective, settings.search, memory)

    @property
    def ends(self) -> str:
        """How long the search goes on, in words."""
        settings = self.settings
        if settings.until_stable:
            return f"until {settings.stable_rounds} rounds have found no better configuration"
        seconds = settings.rounds * (settings.settle_windows + settings.samples_per_round) * settings.period_s
        return f"{settings.rounds} rounds, about {seconds:.0f} s"

    @property
    def searched(self) -> str:
        """The knobs that vary with their ranges, in words."""
        return "; ".join(f"{name} {values}" for name, values in range_of(self.space).items())

    def dry_run(self, target: Target) -> str:
        """What the search would do."""
        return (
            f"Would search ({self.ends}) over {self.searched}, from {target.server.tuple_in_force()}, and restore that "
            "at the end unless --keep; add --execute to do it. For staging: a search tries bad ones too."
        )


def plan_of(settings: SearchRunSettings, target: Target) -> SearchPlan:
    """Says what a search would vary on a server.

    Raises:
        SettingError: A knob is refused, nothing is left to vary, or the stored workloads do not fit.
        StoreError: The store is empty or broken.
    """
    server = target.server
    options = [KnobOption.parse(text) for text in settings.knob]
    knobs, in_force = knobs_to_try(server), server.tuple_in_force()
    space = space_of(options, knobs, in_force)
    held = space.held
    if settings.stored is None:
        return SearchPlan(settings, space, left_out=held)
    from poolpilot.agent.search.knob_ranking import rank_by_workloads

    sweeps = _stored_sweeps(settings.stored, production=settings.dsn is not None)
    workloads = stored_workloads(sweeps, space, target.objective, settings.target)
    ranking = rank_by_workloads(workloads, space.names)
    chosen = {one.name for one in ranking[: settings.top]}
    passed_over = {
        one.name: f"ranks {place} of {len(ranking)} by the stored workloads"
        for place, one in enumerate(ranking, 1)
        if one.name not in chosen
    }
    if passed_over:
        space = space_of([one for one in options if one.name in chosen], knobs, in_force)
        workloads = stored_workloads(sweeps, space, target.objective, settings.target)
    return SearchPlan(settings, space, tuple(workloads), ranking, {**held, **passed_over})


def _stored_sweeps(store: Path, *, production: bool) -> Sequence[WorkloadSweep]:
    """The training workloads of a store, without what their clients reported where no client will."""
    from poolpilot.pipelines.store.dataset import read_dataset

    sweeps = read_dataset(store, "train").of_split("train")
    return [sweep.server_view() for sweep in sweeps] if production else sweeps
