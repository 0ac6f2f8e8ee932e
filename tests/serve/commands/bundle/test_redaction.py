"""Secrets are taken out by what they are, where they stand and how they look; what explains a fault stays."""

from pathlib import Path
from typing import Any

import pytest

from poolpilot.serve.commands.bundle.known_secrets import known_secrets
from poolpilot.serve.commands.bundle.redaction import REMOVED, Redaction

SECRET = "kirschkern"

SHOWN_BY_WHAT_STANDS_BEFORE = (
    f"h=db1,u=app,p={SECRET}",
    f"mariadb://app:{SECRET}@db1:3306/shop",
    f"postgresql+psycopg://:{SECRET}@db1",
    f"Authorization: Bearer {SECRET}",
    f"sent 'bearer  {SECRET}' and failed",
    f"CREATE USER app IDENTIFIED BY '{SECRET}'",
    f"ALTER USER app IDENTIFIED BY PASSWORD '*{SECRET}'",
    f"GRANT ... IDENTIFIED VIA mysql_native_password USING '{SECRET}'",
    f"password = {SECRET}",
    f"password='{SECRET} and more {SECRET}'",
    f'{{"db_password": "{SECRET}"}}',
    f"MYSQL_PWD={SECRET} mariadb",
    f"--ssl-passphrase={SECRET}",
    f"mariadb -p{SECRET} shop",
    f"api_key: {SECRET}",
    f"tokens = ['first', '{SECRET}']",
    f"SET PASSWORD FOR app = PASSWORD('{SECRET}')",
    f"SELECT PASSWORD( '{SECRET}' )",
    f"poolpilot --token {SECRET}",
    f"CREATE USER app IDENTIFIED WITH mysql_native_password BY '{SECRET}'",
    f"https://db1/?x=1&api_key={SECRET}&y=2",
    f"secret=`{SECRET} and more`",
    f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n",
    f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\nand torn",
)

SHOWN_BY_ITS_LOOKS = (
    "Zb3kQ0x8v2TtqL5mN7pR1wYcUeHaJdSfGgKoIi4B6n9",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "AKIAIOSFODNN7EXAMPLE",
)

STAYS = (
    "watching: 1 windows of 4, 1 s",
    "setting 'window': Input should be greater than or equal to 0.1; it is 0.0",
    "/usr/lib/python3.11/site-packages/poolpilot/serve/commands/main.py",
    "h=db1,P=3306,u=app,S=/run/mysqld/mysqld.sock",
    "poolpilot tune --page 8760 --port 1",
    "MariaDB 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64",
    "db1 (page_faults-3-0) at 2026-11-23T20:00:00",
    "bears 100 requests; basically fine",
)


@pytest.mark.parametrize("text", SHOWN_BY_WHAT_STANDS_BEFORE)
def test_what_stands_before_a_secret_betrays_it(text: str) -> None:
    redacted = Redaction().text(text)
    assert SECRET not in redacted
    assert REMOVED in redacted


LONG = (
    "a",
    "A1a",
    "a.",
    "-----BEGIN ",
    "identified by ",
    "identified ",
    "p=",
    "://",
    "a://",
    "password=",
    "Ab1- ",
    " ",
    "'",
)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("text", LONG)
def test_a_long_line_takes_no_longer_than_it_must(text: str) -> None:
    """What takes a second of a megabyte here takes hours where a pattern tries every end from every beginning."""
    Redaction(frozenset({SECRET})).text(text * (1_000_000 // len(text)))


@pytest.mark.parametrize("secret", SHOWN_BY_ITS_LOOKS)
def test_looks_betray_a_token(secret: str) -> None:
    redacted = Redaction().text(f"it said {secret}, then ended")
    assert not any(part in redacted for part in secret.split(".") if len(part) > 15)
    assert redacted.endswith(", then ended")


@pytest.mark.parametrize("text", STAYS)
def test_what_explains_a_fault_stays(text: str) -> None:
    assert Redaction().text(text) == text


def test_a_digest_is_cut_short() -> None:
    assert Redaction().text(f"model {'9a47694990e6' * 5}") == "model 9a476949..."


@pytest.mark.parametrize("secret", [SECRET, "ab'c\\d\"e f", "a.b*c+d(e", "kurz", "ümläut-geheim"])
def test_a_known_secret_is_found_wherever_it_stands(secret: str) -> None:
    redaction = Redaction(frozenset({secret}))
    values = {secret: [f"said {secret}", {"reason": secret, "by": ("x", secret)}], "n": 1}
    redacted = redaction.value(values)
    assert redaction.leaves_in(str(redacted)) is False
    assert secret not in str(redacted)
    assert redacted["n"] == 1


def test_a_short_known_secret_leaves_words_alone_that_it_is_part_of() -> None:
    assert Redaction(frozenset({"pool"})).text("pool of poolpilot") == f"{REMOVED} of poolpilot"


@pytest.mark.parametrize(
    "name", ["password", "db.password", "TLS_PASSPHRASE", "token", "client_secret", "auth", "api-key", "mysql_pwd"]
)
@pytest.mark.parametrize("value", ["x", ["x"], {"inner": "x"}])
def test_a_name_betrays_its_value(name: str, value: Any) -> None:
    assert Redaction().value({name: value}) == {name: REMOVED}


def test_the_path_of_a_file_of_secrets_stays_and_a_secret_in_its_place_does_not(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.touch()
    values = {"token_file": str(file), "a_token_file": SECRET, "tokens": 3}
    assert Redaction().value(values) == {"token_file": str(file), "a_token_file": REMOVED, "tokens": 3}


def test_the_users_folder_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert Redaction().text("in /home/somebody/.local/state") == "in ~/.local/state"


def test_passwords_of_included_files_are_known(tmp_path: Path) -> None:
    (tmp_path / "b.cnf").write_text("[client]\npassword=hidden-away\n")
    (tmp_path / "a.cnf").write_text(f"!include {tmp_path}/b.cnf\n!include {tmp_path}/a.cnf\n")
    assert "hidden-away" in known_secrets({}, [tmp_path / "a.cnf"])
