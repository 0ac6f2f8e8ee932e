"""A DSN names where a server is and never holds a password."""

from pathlib import Path

import pytest

from poolpilot.env.mariadb.dsn import Dsn
from poolpilot.errors import SettingError


@pytest.fixture(autouse=True)
def _nobody_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def options(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "my.cnf"
    path.write_text(text)
    return path


def test_letters_and_names_say_the_same() -> None:
    assert Dsn.parse("h=db1,P=3307,E=3308,u=me") == Dsn.parse("host=db1,port=3307,extra_port=3308,user=me")


def test_bare_word_is_a_host() -> None:
    assert Dsn.parse("db1").account().host == "db1"
    assert str(Dsn.parse("db1").account()) == "db1:3306"


def test_socket_wins_over_tcp() -> None:
    account = Dsn.parse("S=/run/s.sock").account()
    assert (account.socket, str(account)) == (Path("/run/s.sock"), "/run/s.sock")


def test_parts_win_over_the_defaults_file(tmp_path: Path) -> None:
    file = options(tmp_path, "[client]\nuser=reader\npassword='se#cret'\nport = 3310\nextra_port=3311\nhost=db9\n")
    account = Dsn.parse(f"F={file},P=3309").account()
    assert (account.user, account.password, account.host, account.port) == ("reader", "se#cret", "db9", 3309)
    assert account.extra_port == 3311


def test_named_host_is_not_overridden_by_the_files_socket(tmp_path: Path) -> None:
    file = options(tmp_path, "[client]\nsocket=/run/other.sock\n")
    assert Dsn.parse(f"F={file},h=db1").account().socket is None
    assert Dsn.parse(f"F={file}").account().socket == Path("/run/other.sock")


def test_group_of_our_own_holds_what_other_clients_refuse_and_wins(tmp_path: Path) -> None:
    file = options(
        tmp_path,
        "[poolpilot]\nextra-port=3311\nuser=tuner\n[client]\nextra_port=3310\nuser=reader\n"
        "[poolpilot_staging]\nextra_port=3312\n",
    )
    account = Dsn.parse(f"F={file}").account()
    assert (account.user, account.extra_port) == ("tuner", 3311)
    assert Dsn.parse(f"F={file},G=_staging").account().extra_port == 3312
    assert Dsn.parse(f"F={file},E=3313").account().extra_port == 3313


def test_suffix_adds_groups_and_other_groups_are_not_read(tmp_path: Path) -> None:
    file = options(tmp_path, "[client]\nuser=a\n[client_staging]\nuser=b\n[mysqld]\nport=1\nskip-log-bin\n")
    assert Dsn.parse(f"F={file}").account().user == "a"
    assert Dsn.parse(f"F={file},G=_staging").account().user == "b"


def test_file_at_home_is_read_where_none_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".my.cnf").write_text("!includedir /etc/mysql/conf.d/\n[client]\nuser=athome\n")
    assert Dsn.parse("h=db1").account().user == "athome"


def test_password_is_not_shown(tmp_path: Path) -> None:
    file = options(tmp_path, "[client]\npassword=topsecret")
    account = Dsn.parse(f"F={file}").account()
    assert "topsecret" not in repr(account) + str(account)


@pytest.mark.parametrize("part", ["p=secret", "password=secret", "h=db1,p=secret"])
def test_password_is_refused_with_the_reason_and_not_repeated(part: str) -> None:
    with pytest.raises(SettingError, match="everybody who may list processes") as refused:
        Dsn.parse(part)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "names"),
    [("x=1", "'x' is unknown"), ("h=a,h=b", "twice"), ("h=", "without a value"), ("P=0", "1..65535"), ("P=x", "port")],
)
def test_wrong_part_is_named(text: str, names: str) -> None:
    with pytest.raises(SettingError, match=names):
        Dsn.parse(text)


def test_unreadable_defaults_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"cannot read the defaults file .*nowhere"):
        Dsn.parse(f"F={tmp_path}/nowhere").account()
    with pytest.raises(SettingError, match="no option file"):
        Dsn.parse(f"F={options(tmp_path, 'user=outside a group')}").account()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('"abc #1"  # mine', "abc #1"),
        ("'it\"s\"'", 'it"s"'),
        (r"a\\b\s\x\t\n\"z", 'a\\b \\x\t\n"z'),
        ("se#cret", "se"),
        (r"'a\'b # no' # yes", "a'b # no"),
        ('"never ended # so', '"never ended # so'),
        ("'a\"", "'a\""),
        ("abc\\", "abc\\"),
    ],
)
def test_value_is_read_as_the_clients_of_mariadb_read_it(tmp_path: Path, written: str, read: str) -> None:
    """As `my_print_defaults` shows it. Before, quotes fell away one by one, and a comment ended what is quoted."""
    file = options(tmp_path, f"[client] # for all\nskip-ssl # no\npassword={written}\nuser = me\n")
    account = Dsn.parse(f"F={file}").account()
    assert (account.password, account.user) == (read, "me")


def test_password_behind_a_mistake_is_not_repeated() -> None:
    with pytest.raises(SettingError) as refused:
        Dsn.parse("h=a,h=b,p=secret")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://me:secret@127.0.0.1:3306/",
        "mariadb://secret",
        "me:secret@db1",
        "h=me:secret@db1",
        "S=/run/s.sock,me@secret",
        "me:secret=1@db1",
    ],
)
def test_what_may_hold_a_password_is_refused_and_not_repeated(text: str) -> None:
    """Before, a URL was taken for the name of a host and told as one that cannot be reached."""
    with pytest.raises(SettingError) as refused:
        Dsn.parse(text)
    assert "secret" not in str(refused.value)


def test_address_of_ip_version_6_is_a_host() -> None:
    assert Dsn.parse("h=::1").host == Dsn.parse("::1").host == "::1"


def test_endless_defaults_file_is_refused(tmp_path: Path) -> None:
    """Before, it was read until memory was out."""
    with pytest.raises(SettingError, match="allowed are 1048576 bytes at most"):
        Dsn.parse("F=/dev/zero").account()
    file = options(tmp_path, "[client]\nuser=me\n" + "#" * 2_000_000)
    with pytest.raises(SettingError, match="allowed are"):
        Dsn.parse(f"F={file}").account()


def test_file_that_is_read_is_the_one_named_or_the_one_at_home(tmp_path: Path) -> None:
    assert Dsn.parse("h=db1").file is None
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.my.cnf").touch()
    assert Dsn.parse("h=db1").file == tmp_path / "home/.my.cnf"
    assert Dsn.parse("F=/etc/other.cnf").file == Path("/etc/other.cnf")
