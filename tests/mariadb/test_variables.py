"""Ranges are those of the running server, and servers that cannot be tuned are refused with a remedy."""

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.variables import PoolVariable, check_version, knob_space


def variable(name: str, value: int, default: int, origin: str = "COMPILE-TIME", high: int = 100_000) -> PoolVariable:
    return PoolVariable(name, str(value), str(default), 1, high, False, False, origin)


def variables(size: int, origin: str = "AUTO", threads: int = 65_536) -> dict[str, PoolVariable]:
    listed = (
        variable("thread_pool_max_threads", threads, 65_536),
        variable("thread_pool_size", size, 8, origin),
        variable("thread_pool_oversubscribe", 3, 3, high=1000),
        variable("thread_pool_stall_limit", 500, 500, high=4_294_967_295),
        variable("thread_pool_idle_timeout", 60, 60, high=4_294_967_295),
    )
    return {known.name: known for known in listed}


@pytest.mark.parametrize(
    "text",
    [
        "10.5.2-MariaDB",
        "10.11.18-MariaDB-0+deb12u1",
        "5.5.5-10.6.1-MariaDB",
        "11.4.2-MariaDB",
        "10.6.8-4-MariaDB-enterprise-log",
    ],
)
def test_versions_with_pool_tables_are_taken(text: str) -> None:
    check_version(text)


@pytest.mark.parametrize(("text", "says"), [("10.4.34-MariaDB", "from 10.5.2 on"), ("8.0.36", "a MariaDB of at least")])
def test_older_or_other_server_is_refused(text: str, says: str) -> None:
    with pytest.raises(ServerError, match=says):
        check_version(text)


def test_size_may_rise_to_128_or_to_what_it_was_at_the_start() -> None:
    assert knob_space(variables(2), cpus=2).knobs["pool_size"].high == 128
    assert knob_space(variables(200, "CONFIG"), cpus=2).knobs["pool_size"].high == 200


@pytest.mark.parametrize(("size", "threads", "most"), [(2, 60, 11), (2, 10_000, 128), (24, 60, 24), (2, 10, 2)])
def test_size_rises_no_further_than_there_are_threads(size: int, threads: int, most: int) -> None:
    assert knob_space(variables(size, "CONFIG", threads), cpus=2, spare_threads=16).knobs["pool_size"].high == most


@pytest.mark.parametrize(("size", "threads", "most"), [(2, 60, 44), (2, 65_536, 65_520), (24, 60, 96)])
def test_threads_at_work_are_those_not_to_spare_and_enough_for_what_is_in_force(
    size: int, threads: int, most: int
) -> None:
    space = knob_space(variables(size, "CONFIG", threads), cpus=2, spare_threads=16)
    assert space.most_threads == most
    assert space.has_threads_for(PoolTuple(size, 3, 500))


def test_default_is_what_a_restart_brings_back() -> None:
    assert knob_space(variables(2, "AUTO"), cpus=4).default_tuple().core == (2, 3, 500)
    assert knob_space(variables(24, "CONFIG"), cpus=4).default_tuple().core == (24, 3, 500)
    assert knob_space(variables(16, "SQL"), cpus=4).default_tuple().core == (4, 3, 500)


def test_more_processors_than_groups_that_it_takes_make_no_default_beyond_its_range() -> None:
    space = knob_space(variables(64, "SQL"), cpus=192)
    assert space.default_tuple().pool_size == 128
    assert KnobSpace.from_dict(space.as_dict()) == space


def test_no_size_of_the_pool_is_taken_for_the_number_of_processors() -> None:
    space = knob_space(variables(6), cpus=None)
    assert space.processors is None
    assert space.default_tuple().core == (6, 3, 500)


def test_default_size_that_is_forgotten_is_the_one_in_force_where_processors_are_unknown() -> None:
    assert knob_space(variables(16, "SQL"), cpus=None).default_tuple().core == (16, 3, 500)
