"""What went on beside a workload is a reason to say nothing; what belongs to the workload is none."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.featurizer.window import Window
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.observations.disturbances import disturbances_of

BACKUP = Hindrance("session 12 of app@db2 backs up: BACKUP STAGE for 3 s")


def window_with(window_of: Callable[..., Window], metadata_waits: float) -> Window:
    """A second of 1,000 statements on 64 connections, so many of which waited for a metadata lock."""
    indicators = {"reported_meta_data_lock_per_request": metadata_waits / 1000.0}
    return replace(window_of(1, completed_per_s=1000.0, connections=64.0), indicators=indicators)


def test_what_was_seen_going_on_is_named_once(window_of: Callable[..., Window]) -> None:
    seen = replace(window_with(window_of, 30.0), disturbances=(BACKUP,))
    assert disturbances_of([seen, seen]) == (f"what is seen does not last: {BACKUP}",)


@pytest.mark.parametrize("waits", [4.0, 120.0])
def test_waits_for_metadata_locks_tell_without_any_privilege(window_of: Callable[..., Window], waits: float) -> None:
    (said,) = disturbances_of([window_with(window_of, waits)])
    assert f"{waits:.0f} statements waited for metadata locks" in said


@pytest.mark.parametrize("waits", [0.0, 3.0, 130.0, 900.0])
def test_hardly_any_wait_and_user_locks_of_the_workload_are_none(
    window_of: Callable[..., Window], waits: float
) -> None:
    assert disturbances_of([window_with(window_of, waits)]) == ()


def test_whoever_looks_once_says_nothing_while_a_backup_runs(window_of: Callable[..., Window]) -> None:
    window = replace(window_with(window_of, 0.0), disturbances=(BACKUP,), server_kind="mariadb")
    network, curves = [load_champion(kind="mariadb")], load_curves()
    for model in (Model.of(None, network), Model.of(curves), Model.of(curves, network)):
        prediction = Advisor(model).predict([window], KnobSpace.stock(2), Objective())
        assert (prediction.verdict, prediction.keeps) == ("no advice", True)
        assert prediction.reasons[0] == f"what is seen does not last: {BACKUP}"
