"""Settings of the service: where they come from and what is refused."""

from pathlib import Path

import pytest

from poolpilot.errors import SettingError
from poolpilot.serve.service.service_settings import ServeSettings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "serve.toml"
    path.write_text("port = 1111\nkeep_alive_s = 7\nconcurrency_limit = 9\n", encoding="utf-8")
    return path


def test_flags_win_over_environment_over_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPILOT_SERVE_KEEP_ALIVE_S", "8")
    monkeypatch.setenv("POOLPILOT_SERVE_PORT", "2222")
    settings = ServeSettings.load(file, {"port": 3333, "host": None})
    assert (settings.port, settings.keep_alive_s, settings.concurrency_limit) == (3333, 8, 9)
    assert settings.host == "127.0.0.1"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_takes_loopback_addresses(host: str) -> None:
    assert ServeSettings.load(None, {"host": host}).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "db.example", ""])
def test_refuses_other_addresses_with_the_reason(host: str) -> None:
    with pytest.raises(SettingError, match="neither token nor TLS"):
        ServeSettings.load(None, {"host": host})


def test_names_the_setting_that_is_out_of_range() -> None:
    with pytest.raises(SettingError, match=r"'port'.*65535"):
        ServeSettings.load(None, {"port": 70_000})


def test_refuses_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"no settings file .*none\.toml"):
        ServeSettings.load(tmp_path / "none.toml", {})


def test_refuses_an_unknown_setting_in_the_file(file: Path) -> None:
    file.write_text("speed = 3\n", encoding="utf-8")
    with pytest.raises(SettingError, match="speed"):
        ServeSettings.load(file, {})


def test_refuses_a_file_that_is_not_toml(file: Path) -> None:
    file.write_text("port: 3\n", encoding="utf-8")
    with pytest.raises(SettingError, match="not TOML"):
        ServeSettings.load(file, {})
