"""What is asked of a MariaDB by name is there, and has a name in a window."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

from poolpilot.featurizer.measures import COUNTERS
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.counters import STATISTICS, STATUS
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.session import Session


def test_every_status_variable_is_one_of_mariadbs(lab: Lab) -> None:
    """A misspelled one would pass for a server that does not show it."""
    with Session(Dsn(defaults_file=lab.defaults_file).account()) as session:
        rows = session.rows("SELECT VARIABLE_NAME FROM information_schema.GLOBAL_STATUS")
    known = {str(name).upper() for (name,) in rows}
    assert {variable for variables in STATUS.values() for variable in variables} - known == set()


def test_every_counter_is_a_measure() -> None:
    assert {*STATISTICS, *STATUS} - {*COUNTERS} == set()


def test_page_names_every_status_variable() -> None:
    page = (Path(__file__).parents[2] / "docs/advise.md").read_text(encoding="utf-8")
    table = page.partition("\n## What is read\n")[2].partition("\n## ")[0]
    named = [name.upper() for name in re.findall(r"`([\w*]+)`", table)]
    variables = [variable for added in STATUS.values() for variable in added]
    assert [one for one in variables if not any(fnmatchcase(one, name) for name in named)] == []
