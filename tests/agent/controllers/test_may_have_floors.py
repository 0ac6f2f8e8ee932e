"""Where something may have a floor: a class that is told one, or rows read where no class is known."""

from dataclasses import dataclass, replace

import pytest

from poolpilot.agent.controllers.warm_start import may_have_floors
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot

FLOOR = Objective(min_share={"long": 0.5})


@dataclass
class Showing(CurveServer):
    """A curve that shows rows read, as MariaDB does, and may know its classes."""

    classes: bool = False

    def __post_init__(self) -> None:
        super().__init__([(1, 100), (16, 1600)], connections=64)

    def snapshot(self) -> Snapshot:
        shown = super().snapshot()
        histograms = {f"{LATENCY_PREFIX}all": next(iter(shown.histograms.values()))} if self.classes else {}
        return replace(shown, counters={**shown.counters, "rows_read": 1.0}, histograms=histograms)


@pytest.mark.parametrize("classes", [False, True])
def test_class_with_a_floor_has_one_on_any_server(classes: bool) -> None:
    assert may_have_floors(FLOOR, Showing(classes))


def test_rows_have_a_floor_where_no_class_is_known() -> None:
    assert may_have_floors(Objective(), Showing())
    assert not may_have_floors(Objective(), Showing(classes=True))
    assert not may_have_floors(Objective(min_rows_share=0.0), Showing())
    assert not may_have_floors(Objective(), CurveServer([(1, 100), (16, 1600)], connections=64))
