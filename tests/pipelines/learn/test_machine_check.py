"""What is found out about a machine, and what is said of it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from poolpilot.errors import SettingError
from poolpilot.pipelines.learn import machine_check
from poolpilot.pipelines.learn.machine_check import MachineCheck


def test_a_machine_is_looked_at(tmp_path: Path) -> None:
    check = MachineCheck.of(tmp_path / "not" / "there", tmp_path / "nor" / "here", 2, mariadb=False)
    assert check.cpus >= 1
    assert min(check.free_mb, check.free_for_records_mb) >= machine_check.LEAST_FREE_MB
    assert check.noise >= 0.0
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_check, "LEAST_FREE_FOR_MARIADB_MB", 10**12)
    with pytest.raises(SettingError, match=r"MB free and 1000000000000 are needed: make room"):
        MachineCheck.of(tmp_path, tmp_path, 2, mariadb=True)
    MachineCheck.of(tmp_path, tmp_path, 2, mariadb=False)


@pytest.mark.parametrize(("full", "flag"), [("models", "--out"), ("records", "--store")])
def test_a_disk_that_is_full_is_named_by_what_goes_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str, flag: str
) -> None:
    """Before, records had room where the models had."""
    places = {name: tmp_path / name for name in ("models", "records")}
    for place in places.values():
        place.mkdir()

    def usage(place: Path) -> SimpleNamespace:
        roomy_mb = machine_check.LEAST_FREE_MB
        return SimpleNamespace(free=(3 if place == places[full] else roomy_mb) * machine_check.MB)

    monkeypatch.setattr("shutil.disk_usage", usage)
    with pytest.raises(SettingError, match=f"/{full}, where {full} go, has 3 MB free and 500 are needed: .* {flag}$"):
        MachineCheck.of(places["models"], places["records"], 2, mariadb=False)


def test_noise_and_a_larger_server_are_told() -> None:
    quiet = MachineCheck(4, 4, 10_000, 10_000, 0.0, 0.01, ())
    assert quiet.warnings == ()
    assert "equal work spreads by 30%" in replace(quiet, noise=0.3).warnings[0]
    assert "not quiet" in replace(quiet, steal_share=0.2).warnings[0]
    assert "the server has 16 processors and this machine 4" in replace(quiet, cpus_learned_for=16).warnings[0]
