"""The settings model of the climber has what the climber's own table has, and the order of its sources."""

import math
from pathlib import Path

import pytest

from poolpilot.env.climbing.spectral import native_settings
from poolpilot.env.climbing.spectral_settings import SpectralModel, spectral_model
from poolpilot.errors import SettingError
from poolpilot.native_pool import SpectralSettings


@pytest.fixture(scope="module")
def model() -> type[SpectralModel]:
    return spectral_model(SpectralSettings())


def test_defaults_of_the_model_are_those_it_was_made_with(model: type[SpectralModel]) -> None:
    assert model.load(None, {}).native().as_dict() == SpectralSettings().as_dict()
    other = spectral_model(native_settings(hcm_eps=9.0, relative_gain=False))
    assert other.load(None, {}).native().as_dict() == SpectralSettings(hcm_eps=9.0, relative_gain=False).as_dict()


def test_every_setting_has_its_effect_and_unit_and_refuses_what_lies_outside_its_range(
    model: type[SpectralModel],
) -> None:
    for row in SpectralSettings.fields():
        described = model.model_fields[row["name"]].description or ""
        assert row["effect"] in described
        assert row["unit"] in described
        outside = [row["low"] - 1.0] + [row["high"] + 1.0] * math.isfinite(row["high"])
        for value in outside:
            with pytest.raises(SettingError, match=row["name"]):
                model.load(None, {row["name"]: value})


def test_flags_win_over_environment_over_file_over_defaults(
    model: type[SpectralModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "climb.toml"
    file.write_text("hcm_eps = 1\nconfidence = 2.5\nrelative_gain = false\n", encoding="utf-8")
    monkeypatch.setenv("POOLPILOT_CLIMB_HCM_EPS", "2")
    monkeypatch.setenv("POOLPILOT_CLIMB_CONFIDENCE", "3.5")
    settings = model.load(file, {"hcm_eps": "3"}).native()
    assert (settings.hcm_eps, settings.confidence, settings.relative_gain) == (3.0, 3.5, False)
    assert settings.wave_period == SpectralSettings().wave_period


def test_types_are_kept(model: type[SpectralModel]) -> None:
    values = model.load(None, {"wave_period": "6", "adapt_period": "off", "hcm_period": "3"}).native().as_dict()
    assert [values[name] for name in ("wave_period", "adapt_period", "hcm_period")] == [6, False, 3.0]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"wave_periods": 4}, "setting 'wave_periods': there is no such setting"),
        ({"wave_period": 4.5}, r"'wave_period'.*integer"),
        ({"relative_gain": "perhaps"}, "'relative_gain'.*boolean"),
        ({"hcm_eps": "inf"}, "'hcm_eps'.*finite"),
    ],
)
def test_refused_values_name_the_setting(model: type[SpectralModel], flags: dict[str, object], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        model.load(None, flags)


def test_contradiction_names_both_settings(model: type[SpectralModel]) -> None:
    settings = model.load(None, {"hcm_min_thread_wave_magnitude": 90})
    with pytest.raises(SettingError, match=r"hcm_max_thread_wave_magnitude.*hcm_min_thread_wave_magnitude"):
        settings.native()
