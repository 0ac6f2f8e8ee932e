"""What a climb or a search may run on: each backend opens with what belongs to it, and refuses what does not."""

import json
from pathlib import Path

import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.tuning.backends import EXAMPLE_CURVE, Backend, BackendChoice, draw
from poolpilot.errors import SettingError


def test_simulated_pool_has_the_workload_of_the_family() -> None:
    with BackendChoice(Backend.SIMULATED, "latch_single", seed=3).opened() as target:
        workload = draw("latch_single", 3)
        assert target.origin == {"backend": "simulated", "workload": workload.as_dict()}
        assert target.name == workload.name
        assert observe(target.server, 1.0).window.throughput_per_s > 0.0


def test_curve_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "curve.json"
    file.write_text("[[1, 10], [4, 400]]", encoding="utf-8")
    with BackendChoice(Backend.CURVE, curve=file).opened() as target:
        assert target.origin["curve"] == [(1.0, 10.0), (4.0, 400.0)]
        assert observe(target.server, 1.0).window.throughput_per_s == 400.0


def test_without_a_file_the_curve_is_the_example() -> None:
    with BackendChoice(Backend.CURVE).opened() as target:
        assert json.loads(json.dumps(target.origin)) == {"backend": "curve", "curve": [list(p) for p in EXAMPLE_CURVE]}


@pytest.mark.parametrize(
    "text", ["", "{}", "3", "[1, 2]", "[[1]]", "[[1, 2], [1, 3]]", "[[1, -2]]", "[[1, Infinity]]", "[" * 100_000]
)
def test_file_that_holds_no_curve_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "curve.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError), BackendChoice(Backend.CURVE, curve=file).opened():
        pass


def test_curve_belongs_to_its_backend(tmp_path: Path) -> None:
    with (
        pytest.raises(SettingError, match="belong to --backend curve"),
        BackendChoice(Backend.SIMULATED, curve=tmp_path / "curve.json").opened(),
    ):
        pass
