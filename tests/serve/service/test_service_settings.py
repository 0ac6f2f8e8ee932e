"""Settings of the service: where they come from and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.errors import SettingError
from poolpilot.models.body import MOST_WINDOWS, as_body
from poolpilot.serve.service.service_settings import ServeSettings

CLASSES_BY_NAME = 8
"""Of a live pool."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "serve.toml"
    path.write_text("port = 1111\nrate_burst = 7\nconcurrency_limit = 9\n", encoding="utf-8")
    return path


def test_flags_win_over_environment_over_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPILOT_SERVE_RATE_BURST", "8")
    monkeypatch.setenv("POOLPILOT_SERVE_PORT", "2222")
    settings = ServeSettings.load(file, {"port": 3333, "host": None})
    assert (settings.port, settings.rate_burst, settings.concurrency_limit) == (3333, 8, 9)
    assert settings.host == "127.0.0.1"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_takes_loopback_addresses(host: str) -> None:
    assert ServeSettings.load(None, {"host": host}).host == host


OPEN_TO_OTHERS = ["0.0.0.0", "::", "192.168.1.4", "2001:db8::1"]
GUARDED = {"token_file": "tokens", "tls_certificate": "certificate.pem", "tls_key": "key.pem"}


@pytest.mark.parametrize("host", OPEN_TO_OTHERS)
def test_takes_other_addresses_with_tokens_and_tls(host: str) -> None:
    assert ServeSettings.load(None, {"host": host, **GUARDED}).host == host


@pytest.mark.parametrize("host", OPEN_TO_OTHERS)
@pytest.mark.parametrize("lacking", [["token_file"], ["tls_certificate", "tls_key"], list(GUARDED)])
def test_refuses_other_addresses_without_tokens_or_tls(host: str, lacking: list[str]) -> None:
    given = {name: value for name, value in GUARDED.items() if name not in lacking}
    with pytest.raises(SettingError, match=rf"not a loopback address.* set .*{lacking[0]}") as refused:
        ServeSettings.load(None, {"host": host, **given})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("host", ["db.example", ""])
def test_refuses_what_is_no_address(host: str) -> None:
    with pytest.raises(SettingError, match="is no address"):
        ServeSettings.load(None, {"host": host, **GUARDED})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"tls_key": "key.pem"}, "needs both"),
        ({"tls_certificate": "certificate.pem"}, "needs both"),
        ({"tls_client_ca": "ca.pem"}, "needs tls_certificate"),
    ],
)
def test_refuses_half_of_tls(given: dict[str, str], reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        ServeSettings.load(None, given)


def test_names_the_setting_that_is_out_of_range() -> None:
    with pytest.raises(SettingError, match=r"'port'.*65535"):
        ServeSettings.load(None, {"port": 70_000})


def test_body_limit_holds_as_many_windows_as_may_be_sent_of_as_many_classes_as_a_pool_knows_by_name() -> None:
    window, sweep = max(
        (
            (window, sweep)
            for sweep in sample_sweeps("latch_beside_cpu")
            for entry in sweep.entries.values()
            for window in entry.windows
        ),
        key=lambda found: len(json.dumps(found[0].as_dict())),
    )
    of_class = max(window.classes.values(), key=lambda found: len(found.latency.to_sparse()))
    full = replace(window, classes={f"class_{number}": of_class for number in range(CLASSES_BY_NAME)})
    body = len(json.dumps(as_body([full] * MOST_WINDOWS, sweep.limits, sweep.objective)))
    assert 65_536 < body <= ServeSettings().body_limit_bytes


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
