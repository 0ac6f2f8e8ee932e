"""The schedule of a process sums what its threads waited and how often they ran, whoever comes and goes."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from poolpilot.mariadb.host.thread_schedule import ThreadSchedule

PID = 7


@pytest.fixture
def threads(tmp_path: Path) -> Callable[..., None]:
    """Makes a process have these threads: number to (run-queue delay in us, times scheduled)."""

    def have(counts: dict[int, tuple[int, int]]) -> None:
        folder = tmp_path / str(PID) / "task"
        folder.mkdir(parents=True, exist_ok=True)
        for gone in {int(path.name) for path in folder.iterdir()} - counts.keys():
            (folder / str(gone) / "schedstat").unlink()
            (folder / str(gone)).rmdir()
        for number, (delay_us, times) in counts.items():
            (folder / str(number)).mkdir(exist_ok=True)
            (folder / str(number) / "schedstat").write_text(f"123456 {1000 * delay_us} {times}\n")

    return have


def test_it_begins_at_nothing_and_adds_what_each_thread_has_done_since(
    threads: Callable[..., None], tmp_path: Path
) -> None:
    schedule = ThreadSchedule(PID, 8, tmp_path)
    threads({1: (100, 10), 2: (50, 5)})
    assert schedule.read() == (0.0, 0.0)
    threads({1: (130, 12), 2: (50, 5)})
    assert schedule.read() == (30.0, 2.0)
    schedule.close()


def test_a_new_thread_counts_whole_and_one_that_ends_keeps_what_it_had(
    threads: Callable[..., None], tmp_path: Path
) -> None:
    schedule = ThreadSchedule(PID, 8, tmp_path)
    threads({1: (100, 10)})
    schedule.read()
    threads({1: (100, 10), 2: (40, 4)})
    assert schedule.read() == (40.0, 4.0)
    threads({1: (101, 11)})
    assert schedule.read() == (41.0, 5.0)
    schedule.close()


@pytest.mark.parametrize("counts", [{}, {1: (0, 0)}, {number: (5, 5) for number in range(1, 10)}])
def test_no_process_no_counting_and_too_many_threads_are_nothing_to_see(
    threads: Callable[..., None], tmp_path: Path, counts: dict[int, tuple[int, int]]
) -> None:
    threads(counts)
    schedule = ThreadSchedule(PID, 8, tmp_path)
    assert schedule.read() is None
    schedule.close()


def test_more_threads_than_files_may_be_open_are_read_too(
    threads: Callable[..., None], tmp_path: Path, left_open: Callable[[], set[str]]
) -> None:
    schedule, numbers = ThreadSchedule(PID, 4096, tmp_path), range(1, 2001)
    threads(dict.fromkeys(numbers, (10, 1)))
    assert schedule.read() == (0.0, 0.0)
    threads(dict.fromkeys(numbers, (11, 2)))
    assert schedule.read() == (2000.0, 2000.0)
    assert sum("schedstat" in left for left in left_open()) <= 256
    schedule.close()
    assert not any("schedstat" in left for left in left_open())


def test_after_too_many_threads_it_goes_on_from_where_it_is_then(threads: Callable[..., None], tmp_path: Path) -> None:
    schedule = ThreadSchedule(PID, 2, tmp_path)
    threads({1: (100, 10)})
    schedule.read()
    threads({1: (200, 20), 2: (1, 1), 3: (1, 1)})
    assert schedule.read() is None
    threads({1: (300, 30)})
    assert schedule.read() == (0.0, 0.0)
    schedule.close()


def test_this_process_is_seen_to_be_scheduled_and_nothing_stays_open(left_open: Callable[[], set[str]]) -> None:
    schedule, stop = ThreadSchedule(os.getpid(), 512), Event()
    first = schedule.read()
    other = Thread(target=stop.wait)
    other.start()
    for _ in range(20):
        time.sleep(0.001)
    second = schedule.read()
    stop.set()
    other.join()
    assert first is not None
    assert second is not None
    assert second.times >= first.times + 20
    assert second.run_delay_us >= first.run_delay_us
    schedule.close()
    schedule.close()
    assert not any("schedstat" in left for left in left_open())
