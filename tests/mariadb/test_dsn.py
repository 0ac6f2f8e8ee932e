"""A DSN names where a server is and never holds a password."""

from pathlib import Path

import pytest

from poolpilot.errors import SettingError
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.option_files import client_defaults


@pytest.fixture(autouse=True)
def _nobody_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(client_defaults, "SYSTEM_FILES", ())


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


def test_what_stands_in_our_group_counts_as_if_it_stood_in_the_dsn(tmp_path: Path) -> None:
    tcp = "[client]\nhost=db9\nport=3310\n"
    file = options(tmp_path, f"[poolpilot]\nsocket=/run/own.sock\n{tcp}")
    assert Dsn.parse(f"F={file}").account().socket == Path("/run/own.sock")
    assert str(Dsn.parse(f"F={file},h=db1").account()) == "db1:3310"
    file = options(tmp_path, "[poolpilot]\nport=3311\n[client]\nsocket=/run/s.sock\n")
    assert str(Dsn.parse(f"F={file}").account()) == "localhost:3311"


@pytest.mark.parametrize("named", ["S=/run/s.sock,h=db1", "S=/run/s.sock,P=3307", "S=/run/s.sock,h=localhost,P=3307"])
def test_two_ways_in_are_refused(named: str) -> None:
    """Before, the host was passed over in silence."""
    with pytest.raises(SettingError, match="may be two servers: name one of them"):
        Dsn.parse(named).account()


def test_the_extra_port_beside_a_socket_is_of_this_host(tmp_path: Path) -> None:
    """Before, it was looked for on the host of the file."""
    file = options(tmp_path, "[client]\nhost=db9\n")
    assert Dsn.parse(f"F={file},S=/run/s.sock,E=3307").account().host == "127.0.0.1"


@pytest.mark.parametrize("name", ["user", "host"])
def test_a_name_in_another_encoding_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "my.cnf"
    file.write_bytes(f"[client]\n{name}=M\xfcller\n".encode("latin-1"))
    with pytest.raises(SettingError, match=rf"{name} is M\\xfcller, which is no UTF-8"):
        Dsn.parse(f"F={file}").account()


def test_a_password_stays_the_bytes_of_the_file(tmp_path: Path) -> None:
    """Before, the file was refused."""
    file = tmp_path / "my.cnf"
    file.write_bytes("[client]\npassword=M\xfcller\n".encode("latin-1"))
    account = Dsn.parse(f"F={file}").account()
    assert account.password.encode(errors="surrogateescape") == "M\xfcller".encode("latin-1")


def test_what_is_left_out_of_the_files_is_told_once_each(tmp_path: Path) -> None:
    file = options(tmp_path, f"[client]\nuser=me\n!include {tmp_path}/my.cnf\n!include {tmp_path}/none.cnf\n")
    account = Dsn.parse(f"F={file}").account()
    assert account.user == "me"
    missing, itself = sorted(account.warnings, key=lambda sentence: "includes itself" in sentence)
    assert "none.cnf, which" in missing
    assert "is left out, as by MariaDB's clients: No such file or directory" in missing
    assert "includes itself, or lies in 10 others" in itself


def test_a_file_that_includes_itself_many_times_is_refused(tmp_path: Path) -> None:
    file = options(tmp_path, f"[client]\nuser=me\n!include {tmp_path}/my.cnf\n" * 4)
    with pytest.raises(SettingError, match="includes itself again and again"):
        Dsn.parse(f"F={file}").account()


def test_more_than_one_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = (tmp_path / "one.sock", tmp_path / "two.sock")
    monkeypatch.setattr(client_defaults, "KNOWN_SOCKETS", there)
    assert Dsn.parse("u=me").account().socket == there[0]
    for socket in there:
        socket.touch()
    with pytest.raises(SettingError, match="there are 2 sockets"):
        Dsn.parse("h=localhost").account()
    assert str(Dsn.parse("h=localhost,P=3307").account()) == "localhost:3307"


def test_the_same_parts_are_written_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(Dsn.parse("P=3307,host=db1,F=my.cnf")) == f"h=db1,P=3307,F={tmp_path}/my.cnf"
    assert Dsn.parse("h=db1").account().asked == "h=db1"
