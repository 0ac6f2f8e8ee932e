"""`poolpilot bundle`: it shows first, writes only when told, and no planted secret of any kind gets in."""

import json
import shutil
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poolpilot.errors import StoreError
from poolpilot.lab.instance import Lab
from poolpilot.serve.commands.bundle.bundle_archive import write_archive
from poolpilot.serve.commands.bundle.bundle_part import BundlePart
from poolpilot.serve.commands.bundle.known_secrets import known_secrets
from poolpilot.serve.commands.bundle.redaction import Redaction

RECORDED = Path(__file__).parents[2] / "page/recorded/db1/decisions.jsonl"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a folder of states of their own, with the log of one tuner and the journal of one command."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    state = tmp_path / "state"
    monkeypatch.setenv("POOLPILOT_JOURNALS", str(state))
    folder = state / "decisions" / "db1"
    folder.mkdir(parents=True)
    shutil.copy(RECORDED, folder)
    (state / "server.jsonl").write_text('{"journal": 1, "command": "climb"}\n{"set": {"pool_size": 4}}\n')
    monkeypatch.chdir(tmp_path)
    return state


def contents(path: Path) -> dict[str, str]:
    """The files of a bundle."""
    with tarfile.open(path) as archive:
        return {
            member.name.partition("/")[2]: content.read().decode()
            for member in archive.getmembers()
            if (content := archive.extractfile(member)) is not None
        }


def test_shows_first_and_writes_nothing(invoke: Callable[..., Any], state: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    result = invoke("bundle")
    assert (result.code, result.err) == (0, "")
    assert "decisions/0.jsonl" in result.out
    assert "Nothing is written" in result.out
    assert sorted(tmp_path.rglob("*")) == before
    assert state.is_dir()


@pytest.mark.usefixtures("state")
def test_writes_what_it_has_shown(invoke: Callable[..., Any], tmp_path: Path) -> None:
    listed = tmp_path / "parts.json"
    result = invoke("bundle", "--write", "--out", "report.tar.gz", "--last", 5, "--json", listed)
    assert (result.code, result.err) == (0, "")
    found = contents(tmp_path / "report.tar.gz")
    shown = {part["name"]: part["bytes"] for part in json.loads(listed.read_text())["parts"]}
    assert {name: len(text.encode()) for name, text in found.items()} == shown
    assert json.loads(found["installation.json"])["packages"]["numpy"]
    models = json.loads(found["models.json"])
    assert all(len(models[name]["digest"]) > 8 for name in ("native", "mariadb", "any machine", "curves"))
    head, *lines = map(json.loads, found["decisions/0.jsonl"].splitlines())
    assert (head["log"], len(lines)) == (1, 5)
    assert lines[-1]["decision"] == json.loads(RECORDED.read_text().splitlines()[-1])["decision"]
    assert [json.loads(line) for line in found["journals/0.jsonl"].splitlines()][1] == {"set": {"pool_size": 4}}
    assert stat.S_IMODE((tmp_path / "report.tar.gz").stat().st_mode) == 0o600


@pytest.mark.usefixtures("state")
def test_shows_one_of_its_files_as_it_would_be_written(invoke: Callable[..., Any]) -> None:
    result = invoke("bundle", "--show", "models.json")
    assert "champion" in json.loads(result.out)["native"]["folder"]
    refused = invoke("bundle", "--show", "passwords")
    assert refused.code == 1
    assert "has no file 'passwords'; there are README.txt" in refused.err


@pytest.mark.usefixtures("state")
def test_replaces_no_file_and_follows_no_link(invoke: Callable[..., Any], tmp_path: Path) -> None:
    there, link = tmp_path / "there.tar.gz", tmp_path / "link.tar.gz"
    there.write_text("mine")
    link.symlink_to(tmp_path / "elsewhere")
    for path in (there, link):
        result = invoke("bundle", "--write", "--out", path)
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert "is there already and is not replaced" in result.err
    assert there.read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


SECRETS = {
    "defaults": "amsel in the 'garden'",
    "named_defaults": "drossel#fink",
    "dsn": "fink-17",
    "token": "wM3kQ0x8v2TtqL5mN7pR1wYcUeHaJdSf",
    "environment": "kiwi",
    "toml": "meise\\und spatz",
    "toml_url": "rotkehlchen",
    "statement": "zaunkoenig",
    "key": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
}


@pytest.fixture
def planted(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Secrets in every place that a bundle is gathered from; gives the file of settings."""
    (tmp_path / "home" / ".my.cnf").write_text(f'[client]\npassword = "{SECRETS["defaults"]}"\n')
    named = tmp_path / "staging.cnf"
    named.write_text(f"[client]\npassword={SECRETS['named_defaults']}\n")
    tokens = tmp_path / "tokens"
    tokens.write_text(f"predict,admin {SECRETS['token']}\n")
    key = f"-----BEGIN PRIVATE KEY-----\n{SECRETS['key']}\n-----END PRIVATE KEY-----"
    monkeypatch.setenv("MYSQL_PWD", SECRETS["environment"])
    monkeypatch.setenv("POOLPILOT_ADVISE_DSN", f"h=db1,F={named}")
    monkeypatch.setenv("POOLPILOT_TUNE_DSN", f"h=db1,p={SECRETS['dsn']}")
    monkeypatch.setenv("POOLPILOT_SERVE_TOKEN_FILE", str(tokens))
    monkeypatch.setenv("POOLPILOT_SERVE_TLS_KEY", key)
    settings = tmp_path / "poolpilot.toml"
    settings.write_text(
        f"window = 5\npassword = '{SECRETS['toml']}'\nurl = 'https://me:{SECRETS['toml_url']}@db1'\n"
        f"[deep]\ntoken = '{SECRETS['toml']}'\n"
    )
    lines = [
        {"log": 1, "server": "db1", "note": list(SECRETS.values())[:5]},
        {"decision": {"reason": f"IDENTIFIED BY '{SECRETS['statement']}'", SECRETS["defaults"]: key}},
    ]
    log = state / "decisions" / "db1" / "decisions.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + f"{SECRETS['statement']} is no JSON\n")
    other = state / "decisions" / "db2"
    other.mkdir()
    (other / "decisions.jsonl").symlink_to(named)
    (state / "link.jsonl").symlink_to(tokens)
    (state / "copied.jsonl").write_text(tokens.read_text())
    return settings


def test_no_planted_secret_gets_in(invoke: Callable[..., Any], planted: Path, tmp_path: Path) -> None:
    result = invoke("bundle", "--write", "--settings", planted, "--out", "report.tar.gz")
    assert (result.code, result.err) == (0, "")
    found = contents(tmp_path / "report.tar.gz")
    assert json.loads(found["settings/0.json"])["window"] == 5
    assert json.loads(found["environment.json"])["POOLPILOT_SERVE_TOKEN_FILE"] == str(tmp_path / "tokens")
    assert "h=db1,p=***" in found["environment.json"]
    everything = "\n".join([*found, *found.values(), result.out])
    written = {secret: json.dumps(secret)[1:-1] for secret in SECRETS.values()}
    assert [secret for secret, escaped in written.items() if secret in everything or escaped in everything] == []
    assert sorted(name for name in found if "/" in name) == ["decisions/0.jsonl", "journals/0.jsonl", "settings/0.json"]


def test_a_secret_that_would_be_left_stops_the_writing(tmp_path: Path) -> None:
    path = tmp_path / "report.tar.gz"
    with pytest.raises(StoreError, match=r"a\.txt would still hold a secret"):
        write_archive(path, [BundlePart("a.txt", "", "holds kirschkern")], Redaction(frozenset({"kirschkern"})))
    assert not path.exists()


@pytest.mark.usefixtures("state")
def test_settings_that_are_nested_too_deeply_are_refused(invoke: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    for text in ("a = " + "[" * 100_000, "a." * 5000 + "a = 1"):
        file.write_text(text)
        result = invoke("bundle", "--settings", file)
        assert (result.code, result.out) == (1, "")
        assert "deep.toml is nested too deeply" in result.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--settings", "gone.toml"), "there is no settings file gone.toml"),
        (("--out", "/nowhere/report.tar.gz"), "no such folder"),
        (("--dsn", "h=db1,p=geheim"), "a password on the command line"),
        (("--last", 0), "greater than or equal to 1"),
    ],
)
@pytest.mark.usefixtures("state")
def test_a_mistake_is_one_sentence(invoke: Callable[..., Any], arguments: tuple[object, ...], says: str) -> None:
    result = invoke("bundle", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert says in result.err
    assert "geheim" not in result.err


@pytest.mark.usefixtures("state")
def test_a_server_that_is_down_keeps_nothing_else_back(invoke: Callable[..., Any], tmp_path: Path) -> None:
    """Before, there was no bundle when it is wanted most."""
    result = invoke("bundle", "--dsn", "h=127.0.0.1,P=1", "--write", "--out", "report.tar.gz")
    assert result.code == 0
    assert "the server is not diagnosed: cannot reach a server" in result.err
    found = contents(tmp_path / "report.tar.gz")
    assert "cannot reach a server" in json.loads(found["diagnosis.json"])["error"]
    assert "decisions/0.jsonl" in found


@pytest.mark.usefixtures("state")
def test_a_diagnosis_goes_along_and_the_accounts_password_does_not(
    invoke: Callable[..., Any], lab: Lab, tmp_path: Path
) -> None:
    result = invoke("bundle", "--dsn", f"F={lab.defaults_file}", "--write", "--out", "report.tar.gz")
    assert result.code == 0, result.err
    found = contents(tmp_path / "report.tar.gz")
    assert json.loads(found["diagnosis.json"])["verdict"] == "unjudged"
    password = next(line for line in lab.defaults_file.read_text().splitlines() if line.startswith("password"))
    assert password.partition("=")[2].strip("\"' ") not in "\n".join(found.values())


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize(
    ("variable", "value"), [("TOKENIZERS_PARALLELISM", "false"), ("SOME_TOKEN_TTL", "3600"), ("MYSQL_PWD", "poolpilot")]
)
def test_what_stands_everywhere_does_not_stop_the_writing(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """Before, a switch or a word of the text that explains a bundle kept it from being written for ever."""
    monkeypatch.setenv(variable, value)
    result = invoke("bundle", "--write", "--out", tmp_path / "report.tar.gz")
    assert (result.code, result.err) == (0, "")


def test_a_secret_is_known_as_mariadb_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a comment behind it was taken for a part of it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".my.cnf").write_text('[client]\npassword = "amsel #1"  # mine\n')
    assert "amsel #1" in known_secrets({"A_TOKEN_TTL": "60000", "A_SECRET": "20260101"})
    assert known_secrets({"A_TOKEN_TTL": "60000", "A_SECRET": "20260101"}) >= {"20260101"}
    assert "60000" not in known_secrets({"A_TOKEN_TTL": "60000"})
