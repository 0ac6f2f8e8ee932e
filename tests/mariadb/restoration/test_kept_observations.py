"""What was seen on the way to what is in force is known at the next look, for a day and of the same load."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.conftest import make_window

from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.restoration.kept_observations import KEPT_FOR_S, KeptObservations

FIRST, SECOND, OTHER = PoolTuple(2, 3, 500), PoolTuple(16, 3, 10), PoolTuple(4, 3, 250)
SERVER = ServerIdentity("db1", "/data/", "10.11", 1)


def look_under(pool_tuple: PoolTuple, connections: float = 64.0) -> Window:
    return make_window(3, pool_tuple, connections=connections)


@pytest.fixture
def looks(tmp_path: Path) -> KeptObservations:
    looks = KeptObservations(tmp_path / "state", SERVER)
    assert looks.keep([look_under(FIRST)], SECOND) is None
    return looks


def tuples(windows: list[Window]) -> list[PoolTuple]:
    return [each.pool_tuple for each in windows]


def test_advice_that_was_followed_has_a_beginning(looks: KeptObservations) -> None:
    assert tuples(looks.on_the_way_to(look_under(SECOND))) == [FIRST, SECOND]


def test_another_look_takes_the_place_of_the_one_before(looks: KeptObservations) -> None:
    assert tuples(looks.on_the_way_to(look_under(FIRST))) == [FIRST]


def test_what_nobody_advised_begins_anew(looks: KeptObservations) -> None:
    assert tuples(looks.on_the_way_to(look_under(OTHER))) == [OTHER]


def test_another_load_begins_anew(looks: KeptObservations) -> None:
    assert tuples(looks.on_the_way_to(look_under(SECOND, connections=128.0))) == [SECOND]
    assert tuples(looks.on_the_way_to(look_under(SECOND, connections=70.0))) == [FIRST, SECOND]


def test_another_day_begins_anew(looks: KeptObservations) -> None:
    kept = json.loads(looks.path.read_text())
    looks.path.write_text(json.dumps({**kept, "at_unix_s": kept["at_unix_s"] - KEPT_FOR_S - 1.0}))
    assert tuples(looks.on_the_way_to(look_under(SECOND))) == [SECOND]


def test_another_server_has_looks_of_its_own(looks: KeptObservations) -> None:
    other = KeptObservations(looks.path.parent, replace(SERVER, data_folder="/other/"))
    assert tuples(other.on_the_way_to(look_under(SECOND))) == [SECOND]


@pytest.mark.parametrize("content", ["", "no JSON", "[]", "{}", '{"windows": [], "advised": {}, "at_unix_s": 0}'])
def test_a_damaged_file_is_no_look(looks: KeptObservations, content: str) -> None:
    looks.path.write_text(content)
    assert tuples(looks.on_the_way_to(look_under(SECOND))) == [SECOND]


def test_where_nothing_can_be_kept_the_error_says_why(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    error = KeptObservations(tmp_path / "state", SERVER).keep([look_under(FIRST)], SECOND)
    assert error is not None
    assert error.strerror
