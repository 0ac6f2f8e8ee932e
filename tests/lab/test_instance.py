"""A test server comes up clean, goes down clean, and says what keeps it from either."""

import os
import shutil
import signal
import socket
from collections import namedtuple
from pathlib import Path

import pytest

from poolpilot.errors import ServerError, SettingError
from poolpilot.lab import datasets
from poolpilot.lab.datasets import check_space, dataset
from poolpilot.lab.host import programs
from poolpilot.lab.host.folder import LabFolder
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb.session import Session

EMPTY = LabSettings(dataset="empty")


@pytest.mark.usefixtures("installed_anew")
def test_up_is_idempotent_and_down_leaves_the_data(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    lab = Lab(tmp_path, EMPTY)
    first = lab.up()
    assert lab.up() == first
    with pytest.raises(ServerError, match=r"that runs in .* has the data set 'empty' on the disk as it is; stop it"):
        Lab(tmp_path, EMPTY.model_copy(update={"slow_disk": True})).up()
    assert Lab.of(tmp_path).running() == first
    with Session(lab.root) as session:
        session.execute("CREATE DATABASE kept")
    assert lab.down()
    assert lab.running() is None
    assert not Path(f"/proc/{first.pid}").exists()
    assert not lab.down()
    with lab, Session(lab.root) as session:
        assert ("kept",) in session.rows("SHOW DATABASES")
    lab.remove()
    assert not lab.folder.exists()


def test_comes_up_again_after_a_crash(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    with Lab(tmp_path, EMPTY) as lab:
        crashed = lab.running()
        assert crashed is not None
        os.kill(crashed.pid, signal.SIGKILL)
        os.waitpid(crashed.pid, 0)
        assert lab.running() is None
        assert lab.up().pid != crashed.pid


def test_process_that_took_over_the_id_is_left_alone(tmp_path: Path) -> None:
    lab = Lab(tmp_path, EMPTY)
    (tmp_path / "lab.json").write_text(f'{{"pid": {os.getpid()}, "started_ticks": 1, "port": 1, "extra_port": 2}}')
    assert lab.running() is None
    assert not lab.down()


def test_port_in_use_is_named(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} cannot be used"):
            Lab(tmp_path, EMPTY.model_copy(update={"port": port})).up()


def test_server_that_ends_at_once_is_quoted(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    lab = Lab(tmp_path, EMPTY, ["--no-such-option=1"])
    with pytest.raises(ServerError, match="no-such-option"):
        lab.up()
    assert lab.running() is None


def test_other_data_set_in_the_folder_is_refused(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    with Lab(tmp_path, EMPTY):
        pass
    with pytest.raises(ServerError, match="holds the data set 'empty'"):
        Lab(tmp_path, LabSettings(dataset="small")).up()


def test_folder_without_a_test_server_is_said(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="poolpilot lab up"):
        Lab.of(tmp_path)


@pytest.mark.parametrize("text", ["", "3", '["dataset"]', '{"dataset": "of old"}', "[" * 100_000])
def test_settings_that_are_none_are_no_test_server(text: str, tmp_path: Path) -> None:
    LabFolder(tmp_path).settings.write_text(text)
    with pytest.raises(ServerError, match="there is no test server"):
        Lab.of(tmp_path)


def test_settings_of_another_version_are_read_as_far_as_they_are_known(tmp_path: Path) -> None:
    LabFolder(tmp_path).settings.write_text('{"dataset": "empty", "of_another_version": 1}')
    lab = Lab.of(tmp_path)
    assert lab.settings == LabSettings(dataset="empty")
    lab.remove()
    assert not LabFolder(tmp_path).settings.exists()


def test_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="too long"):
        Lab(tmp_path / ("x" * 120), EMPTY)


@pytest.mark.usefixtures("installed_anew")
def test_missing_program_names_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "SYSTEM_FOLDERS", str(tmp_path))
    with pytest.raises(ServerError, match="apt-get install --no-install-recommends mariadb-server-core"):
        Lab(tmp_path / "lab", EMPTY).up()
    assert "sysbench" in programs.missing()


def test_disk_too_small_is_said_before_anything_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 1 << 20))
    with pytest.raises(ServerError, match=r"'large' takes about .* 1 MB free"):
        check_space(tmp_path, dataset("large"))


def test_unknown_data_set_is_named() -> None:
    with pytest.raises(SettingError, match="there are small, large, orders, empty"):
        dataset("huge")


def test_only_the_large_set_does_not_fit_into_memory() -> None:
    assert {name for name, dataset in datasets.DATASETS.items() if not dataset.in_memory} == {"large"}


def test_server_started_by_hand_is_not_restarted_by_a_program(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    lab = Lab(tmp_path, EMPTY)
    running = lab.up(kept=True)
    with pytest.raises(ServerError, match=r"started the MariaDB in .* by hand"), lab.restarted():
        pass
    assert lab.running() == running
    lab.down()


def test_two_programs_do_not_share_a_test_server(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    with Lab(tmp_path, EMPTY).restarted() as running:
        with pytest.raises(ServerError, match="another program uses the test server"), Lab(tmp_path, EMPTY).restarted():
            pass
        assert running.alive


def test_server_that_a_dead_program_left_behind_is_replaced(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    left = Lab(tmp_path, EMPTY).up()
    with Lab(tmp_path, EMPTY).restarted() as running:
        assert running.pid != left.pid
        assert not left.alive
