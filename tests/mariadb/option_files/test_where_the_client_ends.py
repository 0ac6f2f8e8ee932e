"""Option files mean here what they mean to MariaDB's own client: both are let loose, and end at the same listener."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.mariadb.option_files.conftest import NOWHERE, REFUSED, Ends

from poolpilot.lab.host.programs import program
from poolpilot.mariadb.option_files.client_options import CLIENT_GROUPS
from poolpilot.mariadb.option_files.option_reader import OptionReader

Files = Mapping[str, str | bytes]

C = "[client]\n"
ONE, TWO = f"{C}socket=<d>/one.sock\n", f"{C}socket=<d>/two.sock\n"
TCP = "host=127.0.0.1\nport=<tcp>\n"
BOTH = f"{ONE}port=<tcp>\n"

ALIKE: dict[str, tuple[str | bytes, str]] = {
    "R04: Debian's socket beside a host": (f"[client-server]\nsocket=<d>/one.sock\n{C}{TCP}", "tcp"),
    "the host first": (f"{C}{TCP}[client-server]\nsocket=<d>/one.sock\n", "tcp"),
    "a socket": (ONE, "one"),
    "a port without a host": (BOTH, "one"),
    "localhost": (f"{BOTH}host=localhost\n", "one"),
    "LOCALHOST is another name": (f"{BOTH}host=LOCALHOST\n", "tcp"),
    "another host": (f"{ONE}host=127.0.0.2\nport=<other>\n", "other"),
    "a host that is empty": (f"{BOTH}host=127.0.0.1\nhost=\n", "one"),
    "protocol tcp": (f"{BOTH}protocol=tcp\n", "tcp"),
    "protocol TCP, cut short": (f"{BOTH}protocol=T\n", "tcp"),
    "protocol tcp and localhost": (f"{BOTH}protocol=tcp\nhost=localhost\n", "tcp"),
    "protocol socket and a host": (f"{BOTH}protocol=socket\nhost=127.0.0.1\n", "tcp"),
    "protocol empty": (f"{BOTH}protocol=\n", "one"),
    "the last line": (f"{ONE}socket=<d>/two.sock\n", "two"),
    "the last group, mysql": (f"{ONE}[mysql]\nsocket=<d>/two.sock\n", "two"),
    "the last group, client": ("[mysql]\nsocket=<d>/one.sock\n" + TWO, "two"),
    "the last group, client-server": (f"{ONE}[client-server]\nsocket=<d>/two.sock\n", "two"),
    "the last group, client-mariadb": (f"{ONE}[client-mariadb]\nsocket=<d>/two.sock\n", "two"),
    "the last group, mariadb-client": (f"{ONE}[mariadb-client]\nsocket=<d>/two.sock\n", "two"),
    "groups of servers": (
        f"{ONE}[mariadb]\nsocket=<d>/two.sock\n[mysqld]\nsocket=<d>/two.sock\n[server]\nuser=x",
        "one",
    ),
    "a group in capitals": (ONE.replace("client", "CLIENT"), "one"),
    "a blank behind a group's name": (ONE.replace("client", "client  "), "one"),
    "a blank before a group's name": (f"{ONE}[ client]\nsocket=<d>/two.sock\n", "one"),
    "a comment behind a group": (ONE.replace("]", "] # mine"), "one"),
    "half a name of a group": (f"{ONE}[clien]\nsocket=<d>/two.sock\n", "one"),
    "blanks": (f"  {C}\thost  =  127.0.0.1  \n port=\t<tcp>\n", "tcp"),
    "quotes": (f"{C}host='127.0.0.1'\nport=\"<tcp>\"\n", "tcp"),
    "comments": (f"# a\n; b\n{C}host=127.0.0.1 # c\n#port=1\n;port=1\nport=<tcp>#d\n", "tcp"),
    "an escape": (f'{C}host="127.0.0.1\\s"\nhost=127.0.0.1\nport=<tcp>\n', "tcp"),
    "names in capitals": (f"{C}HOST=127.0.0.1\nPort=<tcp>\n", "tcp"),
    "names cut short": (f"{C}ho=127.0.0.1\npor=<tcp>\n", "tcp"),
    "a socket's name cut short": (f"{C}so=<d>/one.sock\n", "one"),
    "loose": (f"{C}loose-host=127.0.0.1\nloose_port=<tcp>\nloose-no-such-thing=1\n", "tcp"),
    "a password of other bytes": (f"{ONE}password=".encode() + b"M\xfcller\n# M\xfcller\n", "one"),
    "an odd blank": (C.encode() + b"\xa0socket=<d>/one.sock\xa0\n", "one"),
    "a character of three bytes that ends no line": (f"{C}user=a\u2028socket=\nsocket=<d>/one.sock\n", "one"),
    "lines of Windows": (ONE.replace("\n", "\r\n"), "one"),
    "no end of the last line": (ONE.strip(), "one"),
    "a line that is cut": (f"{C}#{'x' * 4093}socket=<d>/one.sock\n", "one"),
    "a socket here": (f"{C}socket=one.sock\n", "one"),
    "a socket at nobody's home": (f"{C}socket=~/one.sock\n", NOWHERE),
    "a port of 0": (f"{C}host=127.0.0.3\nport=0\n", NOWHERE),
    "a port that is empty": (f"{C}host=127.0.0.3\nport=\n", NOWHERE),
    "a port with zeros before it": (f"{C}host=127.0.0.1\nport=00<tcp>\n", "tcp"),
}
"""Content of an option file, and where both end."""

NEITHER: dict[str, str | bytes] = {
    "no group": "socket=<d>/one.sock\n",
    "half a group": f"{ONE}[client\nsocket=<d>/two.sock\n",
    "a host without a value": f"{ONE}host\n",
    "a name that may be two": f"{ONE}h=127.0.0.1\n",
    "another name that may be two": f"{ONE}u=me\n",
    "a port that is none": f"{C}host=127.0.0.1\nport=abc\n",
    "a port with more behind it": f"{C}host=127.0.0.1\nport=<tcp> ; c\n",
    "a negative port": f"{C}host=127.0.0.1\nport=-1\n",
    "a protocol that is none": f"{ONE}protocol=xyz\n",
    "a protocol of Windows": f"{ONE}protocol=pipe\n",
    "a byte order mark": b"\xef\xbb\xbf" + ONE.encode(),
    "UTF-16": ONE.encode("utf-16"),
    "UTF-16 without a mark": ONE.encode("utf-16-le"),
    "UTF-16 the other way round": ONE.encode("utf-16-be"),
    "nothing included": f"{ONE}!include\n",
    "a folder that is not there": f"{ONE}!includedir <d>/none\n",
    "an empty socket": f"{ONE}socket=\n",
}
"""Content of an option file that leads that client nowhere, and is refused here."""

CLIENT_ALONE: dict[str, tuple[str | bytes, str]] = {
    "two hosts": (f"{C}host=127.0.0.3,127.0.0.1\nport=<tcp>\n", "tcp"),
    "options in a host": (f"{C}host=socket=<d>/one.sock;host=localhost\n", "one"),
    "a host that is skipped": (f"{BOTH}skip-host\n", "tcp"),
    "a byte of zero": (b"[client]\nsocket=<d>/one.sock\0more\n", "one"),
}
"""Content of an option file that is refused here, though that client ends somewhere: few mean that."""


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize(("content", "end"), ALIKE.values(), ids=ALIKE)
def test_both_end_at_the_same_server(content: str | bytes, end: str, ends: Ends) -> None:
    ends.write({"my.cnf": content})
    assert (ends.of_client(["--defaults-file=<d>/my.cnf"]), ends.of_ours("F=<d>/my.cnf")) == (end, end)


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize("content", NEITHER.values(), ids=NEITHER)
def test_what_leads_the_client_nowhere_is_refused(content: str | bytes, ends: Ends) -> None:
    ends.write({"my.cnf": content})
    assert (ends.of_client(["--defaults-file=<d>/my.cnf"]), ends.of_ours("F=<d>/my.cnf")) == (NOWHERE, REFUSED)


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize(("content", "end"), CLIENT_ALONE.values(), ids=CLIENT_ALONE)
def test_what_few_mean_is_refused_before_another_server_is_reached(content: str | bytes, end: str, ends: Ends) -> None:
    ends.write({"my.cnf": content})
    assert (ends.of_client(["--defaults-file=<d>/my.cnf"]), ends.of_ours("F=<d>/my.cnf")) == (end, REFUSED)


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize("content", [content for content, _ in (*ALIKE.values(), *CLIENT_ALONE.values())][:-1])
def test_both_see_the_same_options_in_the_same_order(content: str | bytes, ends: Ends) -> None:
    ends.write({"my.cnf": content})
    path = ends.folder / "my.cnf"
    command = [program("my_print_defaults"), f"--defaults-file={path}", *CLIENT_GROUPS]
    printed = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "surrogateescape")
    reader = OptionReader(CLIENT_GROUPS)
    reader.read_named(path)
    ours = [f"--{one.name}" + ("" if one.value is None else f"={one.value}") for _, one in reader.found]
    assert ours == [_plain(line) for line in printed.split("\n")[:-1]]


def _plain(printed: str) -> str:
    """An option as it is printed, its name as it is kept here."""
    name, equals, value = printed.partition("=")
    return f"{name.replace('_', '-').lower()}{equals}{value}"


INCLUDED: dict[str, tuple[Files, str]] = {
    "behind": ({"my.cnf": f"{ONE}!include <d>/b.cnf\n", "b.cnf": TWO}, "two"),
    "before": ({"my.cnf": f"!include <d>/b.cnf\n{ONE}", "b.cnf": TWO}, "one"),
    "from here": ({"my.cnf": "!include x/b.cnf\n", "x/b.cnf": "!include one.cnf\n", "one.cnf": ONE}, "one"),
    "from home": ({"my.cnf": "!include ~/x/b.cnf\n", "x/b.cnf": TWO}, "two"),
    "blanks": ({"my.cnf": f"{ONE} !  include \t <d>/b c.cnf  \n", "b c.cnf": TWO}, "two"),
    "a comment is part of the name": ({"my.cnf": f"{ONE}!include <d>/b.cnf # c\n", "b.cnf": TWO}, "one"),
    "quotes are part of the name": ({"my.cnf": f"{ONE}!include '<d>/b.cnf'\n", "b.cnf": TWO}, "one"),
    "not there": ({"my.cnf": f"{ONE}!include <d>/b.cnf\n"}, "one"),
    "a folder as a file": ({"my.cnf": f"{ONE}!include <d>/x\n", "x/b.cnf": TWO}, "one"),
    "another directive": ({"my.cnf": f"{ONE}!INCLUDE <d>/b.cnf\n!include_dir <d>\n", "b.cnf": TWO}, "one"),
    "the group goes on": ({"my.cnf": f"{ONE}!include <d>/b.cnf\n{TWO[9:]}", "b.cnf": "[mysqld]\nport=1\n"}, "two"),
    "no group in it": ({"my.cnf": f"{ONE}!include <d>/b.cnf\n", "b.cnf": "socket=<d>/two.sock\n"}, "one"),
    "a mark in it": ({"my.cnf": f"{ONE}!include <d>/b.cnf\n", "b.cnf": b"\xef\xbb\xbf" + TWO.encode()}, "one"),
    "UTF-16 in it": ({"my.cnf": f"{ONE}!include <d>/b.cnf\n", "b.cnf": TWO.encode("utf-16")}, "one"),
    "half of it": ({"my.cnf": f"{ONE}!include <d>/b.cnf\n", "b.cnf": f"{TWO}[client\n{ONE}"}, "two"),
    "a folder": (
        {"my.cnf": f"{ONE}!includedir <d>/x/\n", "x/a.cnf": ONE, "x/b.cnf": TWO, "x/c.txt": ONE, "x/d.cnf.old": ONE},
        "two",
    ),
    "order of bytes": ({"my.cnf": "!includedir x\n", "x/a.cnf": ONE, "x/B.cnf": TWO, "x/10.cnf": TWO}, "one"),
    "hidden": ({"my.cnf": f"{ONE}!includedir x\n", "x/.cnf": TWO, "x/y.CNF": ONE}, "two"),
    "a folder of a folder": ({"my.cnf": f"{ONE}!includedir x\n", "x/a.cnf/b.cnf": TWO}, "one"),
    "no folder, one below": ({"my.cnf": "!include b.cnf\n", "b.cnf": f"{TWO}!includedir none\n{ONE}"}, "two"),
    "itself": ({"my.cnf": f"{ONE}!include <d>/my.cnf\n"}, "one"),
    "itself, and then more": ({"my.cnf": f"{ONE}!include <d>/my.cnf\nsocket=<d>/two.sock\n"}, "two"),
    "each other": ({"my.cnf": f"{ONE}!include b.cnf\n", "b.cnf": f"{TWO}!include my.cnf\n"}, "one"),
    "each other by three": (
        {"my.cnf": f"{ONE}!include b.cnf\n", "b.cnf": "!include c.cnf\n", "c.cnf": f"{TWO}!include my.cnf\n"},
        "one",
    ),
    "ten deep": (
        {
            "my.cnf": "!include 0.cnf\n",
            **{f"{number}.cnf": f"!include {number + 1}.cnf\n" for number in range(9)},
            "9.cnf": ONE,
        },
        "one",
    ),
    "eleven deep": (
        {
            "my.cnf": f"{TWO}!include 0.cnf\n",
            **{f"{number}.cnf": f"!include {number + 1}.cnf\n" for number in range(10)},
            "10.cnf": ONE,
        },
        "two",
    ),
}
"""Files of which the first includes others, and where both end."""


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize(("files", "end"), INCLUDED.values(), ids=INCLUDED)
def test_both_end_at_the_same_server_by_what_is_included(files: Files, end: str, ends: Ends) -> None:
    ends.write(files)
    assert (ends.of_client(["--defaults-file=<d>/my.cnf"]), ends.of_ours("F=<d>/my.cnf")) == (end, end)


ENVIRONMENTS: dict[str, tuple[str, Mapping[str, str], str]] = {
    "a host": (ONE, {"MYSQL_HOST": "127.0.0.1", "MYSQL_TCP_PORT": "<tcp>"}, "tcp"),
    "a host below that of a file": (f"{BOTH}host=localhost\n", {"MYSQL_HOST": "127.0.0.1"}, "one"),
    "a host that is empty": (ONE, {"MYSQL_HOST": ""}, "one"),
    "a port below that of a file": (f"{C}host=127.0.0.1\nport=<tcp2>\n", {"MYSQL_TCP_PORT": "<tcp>"}, "tcp2"),
    "a port for 0": (f"{C}host=127.0.0.1\nport=0\n", {"MYSQL_TCP_PORT": "<tcp>"}, "tcp"),
    "a socket": (C, {"MYSQL_UNIX_PORT": "<d>/two.sock"}, "two"),
    "a socket below that of a file": (ONE, {"MYSQL_UNIX_PORT": "<d>/two.sock"}, "one"),
    "no such variable": (ONE, {"MARIADB_HOST": "127.0.0.1", "MYSQL_TCP_PORT": "<tcp>"}, "one"),
    "a suffix": (f"{ONE}{TWO.replace(']', '_s]')}", {"MARIADB_GROUP_SUFFIX": "_s"}, "two"),
    "a suffix of before": (f"{ONE}{TWO.replace(']', '_s]')}", {"MYSQL_GROUP_SUFFIX": "_s"}, "two"),
    "two suffixes": (
        f"{TWO.replace(']', '_s]')}{ONE.replace(']', '_t]')}",
        {"MYSQL_GROUP_SUFFIX": "_t", "MARIADB_GROUP_SUFFIX": "_s"},
        "two",
    ),
    "a suffix before": (f"{TWO.replace(']', '_s]')}{ONE}", {"MARIADB_GROUP_SUFFIX": "_s"}, "one"),
}
"""Content of an option file, variables of the environment, and where both end."""


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize(("content", "variables", "end"), ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_both_end_at_the_same_server_by_the_environment(
    content: str, variables: Mapping[str, str], end: str, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends.write({"my.cnf": content})
    for name, value in variables.items():
        monkeypatch.setenv(name, ends.filled(value.encode()).decode())
    assert (ends.of_client(["--defaults-file=<d>/my.cnf"]), ends.of_ours("F=<d>/my.cnf")) == (end, end)


PARTS: dict[str, tuple[str, str, list[str], str]] = {
    "a port": (ONE, "P=<tcp>", ["--port=<tcp>"], "tcp"),
    "a port, and localhost in the file": (f"{ONE}host=localhost\n", "P=<tcp>", ["--port=<tcp>"], "tcp"),
    "a port, and protocol socket": (f"{ONE}protocol=socket\n", "P=<tcp>", ["--port=<tcp>"], "tcp"),
    "localhost": (f"{C}{TCP}socket=<d>/one.sock\n", "h=localhost", ["--host=localhost"], "one"),
    "localhost and a port": (ONE, "h=localhost,P=<tcp>", ["--host=localhost", "--port=<tcp>"], "tcp"),
    "localhost, and protocol tcp": (f"{BOTH}protocol=tcp\n", "h=localhost", ["--host=localhost"], "tcp"),
    "a host": (BOTH, "h=127.0.0.1", ["--host=127.0.0.1"], "tcp"),
    "a socket": (TWO, "S=<d>/one.sock", ["--socket=<d>/one.sock"], "one"),
    "a socket, and protocol tcp": (f"{BOTH}protocol=tcp\n", "S=<d>/two.sock", ["--socket=<d>/two.sock"], "two"),
    "a suffix": (f"{ONE}{TWO.replace(']', '_s]')}", "G=_s", ["--defaults-group-suffix=_s"], "two"),
}
"""Content of an option file, parts of a DSN, the same to that client, and where both end."""


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize(("content", "parts", "arguments", "end"), PARTS.values(), ids=PARTS)
def test_parts_of_a_dsn_are_as_that_clients_arguments(
    content: str, parts: str, arguments: list[str], end: str, ends: Ends
) -> None:
    ends.write({"my.cnf": content})
    assert ends.of_client(["--defaults-file=<d>/my.cnf", *arguments]) == end
    assert ends.of_ours(f"F=<d>/my.cnf,{parts}") == end


HOMES: dict[str, tuple[Files, Mapping[str, str], str]] = {
    "at home": ({".my.cnf": ONE}, {}, "one"),
    "a folder of the environment": ({".my.cnf": C, "h/my.cnf": ONE}, {"MYSQL_HOME": "<d>/h"}, "one"),
    "the later one": ({".my.cnf": TWO, "h/my.cnf": ONE}, {"MARIADB_HOME": "<d>/h"}, "two"),
    "two folders": (
        {".my.cnf": C, "h/my.cnf": ONE, "g/my.cnf": TWO},
        {"MARIADB_HOME": "<d>/h", "MYSQL_HOME": "<d>/g"},
        "one",
    ),
    "what includes itself at home": ({".my.cnf": f"{ONE}!include ~/.my.cnf\n"}, {}, "one"),
}
"""Files where none is named, variables of the environment, and where both end."""


@pytest.mark.usefixtures("mariadb_installed")
@pytest.mark.parametrize(("files", "variables", "end"), HOMES.values(), ids=HOMES)
def test_both_read_the_same_files_where_none_is_named(
    files: Files, variables: Mapping[str, str], end: str, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends.write(files)
    for name, value in variables.items():
        monkeypatch.setenv(name, ends.filled(value.encode()).decode())
    assert (ends.of_client([]), ends.of_ours("u=me")) == (end, end)


@pytest.mark.usefixtures("mariadb_installed")
def test_a_file_that_everybody_may_write_to_leads_nobody(ends: Ends) -> None:
    ends.write({".my.cnf": f"{ONE}!include ~/b.cnf\n", "b.cnf": TWO})
    Path(ends.folder, "b.cnf").chmod(0o666)
    assert (ends.of_client([]), ends.of_ours("u=me")) == ("one", "one")
    Path(ends.folder, ".my.cnf").chmod(0o666)
    assert (ends.of_client([]), ends.of_ours("u=me")) == (NOWHERE, NOWHERE)
    assert ends.of_ours("F=<d>/.my.cnf") == REFUSED
