"""`poolpilot climb` on a load that comes in bursts: the period is named, with what helps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BURSTS = """
from poolpilot.env.servers.curve import CurveServer

class Bursts(CurveServer):
    period_s = {period_s}

    def throughput_per_s(self, pool_tuple):
        quiet = self._time_s % self.period_s >= 0.2 * self.period_s if self.period_s else False
        return super().throughput_per_s(pool_tuple) * (0.1 if quiet else 1.0)

def server():
    return Bursts([(1, 1000), (8, 8000), (128, 8000)], noise=0.1, seed=1)
"""
"""A server of one's own: a factory in a module."""


def climbed(
    invoke: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, period_s: float, *flags: str
) -> str:
    module = f"bursts_of_{period_s:g}_s"
    (folder / f"{module}.py").write_text(BURSTS.format(period_s=period_s))
    monkeypatch.syspath_prepend(str(folder))
    result = invoke("climb", "--server", f"{module}:server", "--seconds", "120", *flags)
    assert result.code == 0, result.err
    return str(result.out)


def test_period_is_named_with_what_helps(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = climbed(invoke, tmp_path, monkeypatch, 10.0)
    assert "The load repeats itself about every 10 s" in said
    assert "--period 10," in said


def test_windows_of_whole_cycles_and_a_steady_load_say_nothing(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "repeats itself" not in climbed(invoke, tmp_path, monkeypatch, 2.0, "--period", "2")
    assert "repeats itself" not in climbed(invoke, tmp_path, monkeypatch, 0.0)
