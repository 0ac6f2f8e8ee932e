"""Recorded workloads that no choice can be judged on, by the rule of `poolpilot evaluate`."""

from collections.abc import Sequence

from poolpilot.pipelines.evaluate.censored_sweeps import reason_to_censor
from recorded_cases import RecordedCase


def censored_cases(cases: Sequence[RecordedCase]) -> dict[tuple[str, str], str]:
    """Workloads that are left out, by kind and name, with the reason."""
    return {(case.kind, case.name): reason for case in cases if (reason := reason_of(case)) is not None}


def reason_of(case: RecordedCase) -> str | None:
    """Why a workload is left out; None where it is not."""
    return reason_to_censor(case.sweep)
