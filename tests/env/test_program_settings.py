"""What the environment says is understood as people write it, and a value that is not names its variable."""

from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic_settings import SettingsConfigDict

from poolpilot.env.program_settings import ProgramSettings, settings_within
from poolpilot.errors import SettingError


class Oven(BaseModel):
    """A nested model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    minutes: tuple[int, ...] = (10, 20)
    degrees: int = 180


class Shop(BaseModel):
    """A model with a nested one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    oven: Oven = Oven(minutes=(5,), degrees=250)
    counters: int = 1


class BakeSettings(ProgramSettings):
    """Settings of a made-up program."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BAKE_")

    fillings: tuple[str, ...] = ()
    sacks: tuple[Path, ...] = ()
    span: tuple[float, float] = (0.0, 1.0)
    oven: Oven = Field(default=Oven())
    small_oven: Oven = Field(default=Oven(degrees=120))
    shop: Shop = Shop(counters=2)
    token_count: int = 0


class CakeSettings(ProgramSettings):
    """Settings of a made-up program whose prefix begins that of another."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BAKE_", env_prefix_target="all")
    longer_prefixes: ClassVar[tuple[str, ...]] = ("POOLPILOT_BAKE_BREAD_",)

    layers: int = Field(default=1, validation_alias=AliasChoices("layers", "tiers"))


@pytest.mark.parametrize(
    ("written", "fillings"),
    [
        ("nuts", ("nuts",)),
        ("nuts, sour plums", ("nuts", "sour plums")),
        ('["nuts, chopped", "plums"]', ("nuts, chopped", "plums")),
        ("7", ("7",)),
        ("", ()),
    ],
)
def test_a_list_is_written_with_commas_or_in_json(
    written: str, fillings: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLPILOT_BAKE_FILLINGS", written)
    assert BakeSettings.load(None, {}).fillings == fillings


@pytest.mark.parametrize(
    ("assignment", "fillings"),
    [
        ("nuts", ("nuts",)),
        ("nuts, sour plums", ("nuts", "sour plums")),
        ('["nuts, chopped", "a=b"]', ("nuts, chopped", "a=b")),
    ],
)
def test_a_list_is_assigned_as_it_is_written_in_the_environment(assignment: str, fillings: tuple[str, ...]) -> None:
    assert BakeSettings.load(None, {}, [f"fillings={assignment}"]).fillings == fillings


def test_assignments_win_over_flags_these_over_the_environment_and_that_over_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "bake.toml"
    file.write_text("token_count = 1\nfillings = ['file']\nsacks = ['file']\n[oven]\nminutes = [1]\ndegrees = 100\n")
    for name in ("TOKEN_COUNT", "FILLINGS", "OVEN__MINUTES"):
        monkeypatch.setenv(f"POOLPILOT_BAKE_{name}", "2")
    settings = BakeSettings.load(file, {"token_count": 3, "oven.minutes": (3,)}, ["token_count=4", "token_count = 5"])
    assert (settings.token_count, settings.oven.minutes) == (5, (3,))
    assert (settings.fillings, settings.sacks, settings.oven.degrees) == (("2",), (Path("file"),), 100)
    assert BakeSettings.load(file, {}, ["oven.minutes=7,8", "oven.degrees=99"]).oven == Oven(minutes=(7, 8), degrees=99)


@pytest.mark.parametrize(
    ("assignment", "says"),
    [
        ("token_count", "--set wants NAME=VALUE, such as seed=3, and not 'token_count'"),
        ("=3", "--set wants NAME=VALUE"),
        ("token_count=", "--set wants NAME=VALUE"),
        ("", "--set wants NAME=VALUE"),
        ("flower=rose", "setting 'flower': there is no such setting"),
        ("oven.fan=on", r"setting 'oven\.fan': there is no such setting"),
        ("oven.degrees=hot", r"setting 'oven\.degrees': .*integer.*; it is 'hot'"),
        ("oven.minutes=3,soon", r"setting 'oven\.minutes\.1'.*it is 'soon'"),
        ('fillings=["nuts"', "begins like a list in JSON and is none"),
        ("oven=hot", "setting 'oven': Input should be a table of settings"),
        ("token_count.more=1", "setting 'token_count'"),
    ],
)
def test_a_wrong_assignment_is_one_sentence(assignment: str, says: str) -> None:
    with pytest.raises(SettingError, match=says) as caught:
        BakeSettings.load(None, {}, [assignment])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("assignment", ["password=hunter2", "oven.key=hunter2", "token_count=hunter2"])
def test_a_secret_that_is_assigned_is_not_repeated(assignment: str) -> None:
    with pytest.raises(SettingError) as caught:
        BakeSettings.load(None, {}, [assignment])
    assert "hunter2" not in str(caught.value)


def test_names_of_nested_settings_are_joined_by_dots() -> None:
    assert [name for name in settings_within(BakeSettings) if name.startswith("shop")] == [
        "shop.oven.minutes",
        "shop.oven.degrees",
        "shop.counters",
    ]


def test_lists_of_other_kinds_and_nested_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SACKS", "rye,wheat"), ("SPAN", "0.5,2"), ("OVEN__MINUTES", "3, 4")):
        monkeypatch.setenv(f"POOLPILOT_BAKE_{name}", value)
    settings = BakeSettings.load(None, {})
    assert (settings.sacks, settings.span) == ((Path("rye"), Path("wheat")), (0.5, 2.0))
    assert settings.oven.minutes == (3, 4)


def test_who_names_one_setting_of_a_nested_model_leaves_the_others_as_they_are() -> None:
    """Before, the others became those of the model by itself: trials of a MariaDB took a fifth of the time, say."""
    assert BakeSettings.load(None, {}).small_oven == Oven(degrees=120)
    settings = BakeSettings.load(None, {"small_oven.minutes": (3,), "shop.oven.degrees": 200})
    assert settings.small_oven == Oven(minutes=(3,), degrees=120)
    assert settings.shop == Shop(oven=Oven(minutes=(5,), degrees=200), counters=2)


def test_settings_of_a_part_hear_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPILOT_BAKE_TOKEN_COUNT", "7")
    monkeypatch.setenv("POOLPILOT_BAKE_OVEN__DEGREES", "90")
    settings = BakeSettings.of({"fillings": ("nuts",), "shop.oven.degrees": 200})
    assert (settings.token_count, settings.oven, settings.shop.oven.minutes) == (0, Oven(), (5,))
    with pytest.raises(SettingError, match="'token_count'"):
        BakeSettings.of({"token_count": "many"})


@pytest.mark.parametrize(
    ("variable", "value", "form"),
    [
        ("POOLPILOT_BAKE_FILLINGS", '["nuts"', "commas between them, or a list in JSON"),
        ("POOLPILOT_BAKE_OVEN__MINUTES", "[3", "commas between them, or a list in JSON"),
        ("POOLPILOT_BAKE_OVEN", "hot", "a variable of its own, whose name goes on with __"),
    ],
)
def test_a_value_that_is_not_understood_names_its_variable(
    variable: str, value: str, form: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(variable, value)
    file = tmp_path / "bake.toml"
    file.write_text('fillings = ["nuts"]\n')
    for named in (None, file):
        with pytest.raises(SettingError) as caught:
            BakeSettings.load(named, {})
        assert str(caught.value).startswith(f"the variable {variable} is {value!r}: write ")
        assert form in str(caught.value)
        assert "TOML" not in str(caught.value)


def test_a_wrong_value_of_a_list_is_that_of_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPILOT_BAKE_OVEN__MINUTES", "3,soon")
    with pytest.raises(SettingError, match=r"setting 'oven\.minutes\.1'.*it is 'soon'"):
        BakeSettings.load(None, {})


@pytest.mark.parametrize("written", ['password = "hunter2"', '[oven]\nkey = "hunter2"', 'token_count = "hunter2"'])
def test_a_secret_in_the_wrong_place_is_not_repeated(written: str, tmp_path: Path) -> None:
    """Before, whatever stood under an unknown name was shown."""
    file = tmp_path / "bake.toml"
    file.write_text(f"{written}\n")
    with pytest.raises(SettingError, match=r"^setting '(password|oven\.key|token_count)'") as caught:
        BakeSettings.load(file, {})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("POOLPILOT_BAKE_FILINGS", "POOLPILOT_BAKE_FILLINGS"),
        ("POOLPILOT_BAKE_TOKENCOUNT", "POOLPILOT_BAKE_TOKEN_COUNT"),
        ("POOLPILOT_BAKE_OVEN_DEGREES", "POOLPILOT_BAKE_OVEN__DEGREES"),
        ("poolpilot_bake_spam", "POOLPILOT_BAKE_SPAN"),
        ("POOLPILOT_BAKE_TOKEN_COUNT__MORE", "POOLPILOT_BAKE_TOKEN_COUNT"),
        ("POOLPILOT_BAKE_XYZ", ""),
        ("POOLPILOT_BAKE_", ""),
    ],
)
def test_a_variable_of_no_setting_is_refused(variable: str, nearest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, it was passed over: a DSN or a file of tokens by a misspelled name was none."""
    monkeypatch.setenv(variable, "hunter2")
    with pytest.raises(SettingError) as caught:
        BakeSettings.load(None, {})
    meant = f" (the nearest is {nearest})" if nearest else ""
    assert str(caught.value).startswith(f"the variable {variable} names no setting{meant}: ")
    assert "`poolpilot check --settings COMMAND --defaults` lists all settings" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_variables_of_others_are_left_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("POOLPILOT_BAKERY", "POOLPILOT_JOURNALS", "BAKE_SUGAR", "POOLPILOT_BAKE_BREAD_SALT"):
        monkeypatch.setenv(name, "1")
    assert CakeSettings.load(None, {}).layers == 1
    with pytest.raises(SettingError, match="POOLPILOT_BAKE_BREAD_SALT names no setting"):
        BakeSettings.load(None, {})


def test_a_setting_may_be_named_by_its_other_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPILOT_BAKE_TIERS", "3")
    assert CakeSettings.load(None, {}).layers == 3


def test_a_program_without_a_prefix_hears_of_its_fields_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class AnyName(ProgramSettings):
        flour: str = ""

    monkeypatch.setenv("FLOUR", "rye")
    monkeypatch.setenv("FLOWER", "rose")
    assert AnyName.load(None, {}).flour == "rye"


def test_settings_that_are_nested_too_deeply_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, it was a RecursionError with its traceback."""
    file = tmp_path / "deep.toml"
    deep = "a." * 5000 + "a = 1"
    for text in ("fillings = " + "[" * 100_000, f"oven.{deep}", f"token_count.{deep}", f"span.{deep}"):
        file.write_text(text)
        with pytest.raises(SettingError, match=rf"^the settings file {file} is nested too deeply: 16 tables"):
            BakeSettings.load(file, {})
    file.write_text("")
    monkeypatch.setenv("POOLPILOT_BAKE_OVEN", "[" * 100_000)
    with pytest.raises(SettingError, match="the variable POOLPILOT_BAKE_OVEN is") as caught:
        BakeSettings.load(file, {})
    assert len(str(caught.value)) < 500
    monkeypatch.setenv("POOLPILOT_BAKE_OVEN", "{" + '"a":{' * 900 + "}" * 901)
    with pytest.raises(SettingError) as caught:
        BakeSettings.load(file, {})
    assert len(str(caught.value)) < 500


def test_what_is_no_file_of_settings_is_told(tmp_path: Path) -> None:
    file = tmp_path / "bake.toml"
    file.write_bytes(b"\xff\xfe m")
    with pytest.raises(SettingError, match=rf"^the settings file {file} is not TOML: "):
        BakeSettings.load(file, {})
    file.write_text("n = " + "9" * 5000)
    with pytest.raises(SettingError, match=rf"^the settings file {file} is not TOML: "):
        BakeSettings.load(file, {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fillings = 'rye'", r"setting 'fillings': Input should be a list, such as \['one', 'two'\]; it is 'rye'"),
        ("oven = 5", "setting 'oven': Input should be a table of settings; it is 5"),
        ("sacks = [5]", r"setting 'sacks\.0': Input should be a path, as text; it is 5"),
    ],
)
def test_wrong_kind_of_value_is_told_in_words_of_the_file(tmp_path: Path, text: str, says: str) -> None:
    """Before, a tuple was asked for, and an instance of a class."""
    file = tmp_path / "bake.toml"
    file.write_text(text)
    with pytest.raises(SettingError, match=f"{says}$"):
        BakeSettings.load(file, {})
