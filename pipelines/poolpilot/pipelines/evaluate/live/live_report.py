"""What a live evaluation says: what every method lost and cost, over the workloads whose reference repeats."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from rich.console import Group

from poolpilot.env.objective import regret
from poolpilot.pipelines.evaluate.live.judging.live_result import REFERENCE, LiveResult, MethodRun
from poolpilot.pipelines.evaluate.live.live_tables import cost_table, load_table, trials_table, value_table
from poolpilot.pipelines.evaluate.statistics.load_level import LEVELS, LoadLevel
from poolpilot.pipelines.evaluate.statistics.regret_statistics import WITHIN, interval_by_family

Statistics = Mapping[str, Any]


@dataclass(frozen=True)
class LeftOut:
    """What the report has nothing of, and why.

    Attributes:
        workloads: Workloads that could not be measured.
        methods: Methods that could not run.
    """

    workloads: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LiveReport:
    """All workloads of a live evaluation.

    Attributes:
        results: The workloads.
        resamples: Bootstrap samples of the intervals.
        seed: Seed of the bootstrap.
        left_out: What was not evaluated.
    """

    results: Sequence[LiveResult]
    resamples: int = 5000
    seed: int = 0
    left_out: LeftOut = LeftOut()

    @property
    def kept(self) -> list[LiveResult]:
        """The workloads whose sweep's best, measured afresh, held; the others are censored."""
        return [result for result in self.results if result.censored is None]

    @property
    def methods(self) -> list[str]:
        """Every method, the best mean regret first."""
        names = [run.method for run in self.results[0].runs] if self.results else []
        return sorted(names, key=lambda name: self.statistics(name).get("regret_mean", np.inf))

    def statistics(self, method: str) -> dict[str, Any]:
        """What a method lost and cost; empty where every workload is censored."""
        pairs = [(result, result.run_of(method)) for result in self.kept]
        if not pairs:
            return {}
        regrets = np.array([regret(run.value, result.run_of(REFERENCE).value) for result, run in pairs])
        shares = np.array([run.goodput_share for _, run in pairs])
        low, high = self._interval((result.family, value) for (result, _), value in zip(pairs, regrets, strict=True))
        return {
            "goodput_share_mean": float(shares.mean()),
            "goodput_share_p10": float(np.quantile(shares, 0.1)),
            "regret_mean": float(regrets.mean()),
            "regret_mean_low": low,
            "regret_mean_high": high,
            "regret_median": float(np.median(regrets)),
            "regret_p90": float(np.quantile(regrets, 0.9)),
            "within_5pct": float(np.mean(regrets <= WITHIN)),
            "broken": float(np.mean([bool(run.broken) for _, run in pairs])),
            **way_of([run for _, run in pairs]),
            **classes_of(pairs),
        }

    def noise(self) -> dict[str, Any]:
        """The default scored again less the default, in J, signed: what a difference of nothing looks like here."""
        differences = np.array([result.noise for result in self.kept])
        if not len(differences):
            return {}
        low, high = self._interval((result.family, result.noise) for result in self.kept)
        return {
            "workloads": len(differences),
            "mean": float(differences.mean()),
            "low": low,
            "high": high,
            "largest": float(np.abs(differences).max()),
            "error_mean": float(np.mean([result.noise_error for result in self.kept])),
        }

    def _interval(self, values: Iterable[tuple[str, float]]) -> tuple[float | None, float | None]:
        return interval_by_family(values, self.resamples, self.seed)

    def by_trials(self) -> dict[str, dict[int, Statistics]]:
        """Statistics of the methods that try so often, by the method's name and the number of trials."""
        found: dict[str, dict[int, Statistics]] = defaultdict(dict)
        for method in self.methods:
            name, _, trials = method.rpartition("_")
            if trials.isdigit():
                found[name][int(trials)] = self.statistics(method)
        return dict(found)

    def by_load(self) -> dict[LoadLevel, "LiveReport"]:
        """The workloads that ask lightly, half or fully of their servers, as far as there are such."""
        found = {level: [one for one in self.kept if one.load == level] for level in LEVELS}
        return {level: replace(self, results=results) for level, results in found.items() if results}

    def as_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        return {
            "workloads": len(self.results),
            "censored": {result.workload: result.censored for result in self.results if result.censored is not None},
            "left_out": {"workloads": dict(self.left_out.workloads), "methods": dict(self.left_out.methods)},
            "noise": self.noise(),
            "methods": {method: self.statistics(method) for method in self.methods},
            "tries": {
                name: {str(k): row["regret_mean"] for k, row in rows.items() if row}
                for name, rows in self.by_trials().items()
            },
            "by_load": {level: _regrets(report) for level, report in self.by_load().items()},
            "results": [result.as_dict() for result in self.results],
        }

    def table(self) -> Group:
        """The methods as people read them: what they choose is worth, what it costs, and what each trial buys."""
        statistics = {method: self.statistics(method) for method in self.methods}
        censored = [f"{result.workload}: {result.censored}" for result in self.results if result.censored is not None]
        missing = [
            f"{name} is left out: {why}"
            for name, why in (*self.left_out.workloads.items(), *self.left_out.methods.items())
        ]
        trials, by_load = self.by_trials(), self.by_load()
        return Group(
            value_table(statistics, len(self.kept), len(censored)),
            cost_table(statistics, self.noise()),
            *([trials_table(trials)] if trials else []),  # of methods that try nothing it would be empty
            *([load_table({level: _regrets(report) for level, report in by_load.items()})] if by_load else []),
            *censored,
            *missing,
        )


def way_of(runs: Sequence[MethodRun]) -> dict[str, Any]:
    """What the methods' own seconds cost, and how sure their choices' values are."""
    return {
        "tries": float(np.mean([run.tries for run in runs])),
        "on_the_way": _mean(run.on_the_way for run in runs),
        "unsafe": _mean(run.unsafe for run in runs),
        "trying_s": float(np.mean([run.trying_s for run in runs])),
        "trying_regret": _mean(run.trying_regret for run in runs),
        "threads": _mean(run.threads for run in runs),
        "error_mean": float(np.mean([run.error for run in runs])),
        "largest_error": max(run.error for run in runs),
    }


def classes_of(pairs: Sequence[tuple[LiveResult, MethodRun]]) -> dict[str, Any]:
    """What short and long classes got: p99 over the reference's, and the long ones' share of what the default gave.

    Ratios of latencies are averaged as logarithms; of several long classes the one that kept least counts.
    """
    short = [_log_mean(run.p99_ratio, set(run.p99_ratio) - set(result.long_classes)) for result, run in pairs]
    long = [_log_mean(run.p99_ratio, result.long_classes) for result, run in pairs]
    kept = [
        min((run.class_share[name] for name in result.long_classes if name in run.class_share), default=None)
        for result, run in pairs
    ]
    return {
        "p99_ratio_short": _geometric_mean(short),
        "p99_ratio_long": _geometric_mean(long),
        "long_share": _mean(kept),
        "long_share_least": min((share for share in kept if share is not None), default=None),
        "with_long_classes": sum(share is not None for share in kept),
    }


def _log_mean(ratios: Mapping[str, float], names: Iterable[str]) -> float | None:
    return _mean(float(np.log(ratios[name])) for name in names if ratios.get(name, 0.0) > 0.0)


def _geometric_mean(logs: Iterable[float | None]) -> float | None:
    mean = _mean(logs)
    return None if mean is None else float(np.exp(mean))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _regrets(report: LiveReport) -> dict[str, Any]:
    """Mean regret of every method, and of how many workloads."""
    regrets = {method: report.statistics(method)["regret_mean"] for method in report.methods}
    return {"workloads": len(report.results), "regret_mean": regrets}
