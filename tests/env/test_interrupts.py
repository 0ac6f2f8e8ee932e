"""Signals that end a program wait for a good moment, but not twice, and are as they were afterwards."""

import os
import signal
import threading

import pytest

from poolpilot.env.interrupts import ENDING, Interrupts, held, leave_at_once

every_signal = pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)


def press(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def press_within_a_block(times: int, moments: list[str], number: int) -> None:
    with Interrupts() as interrupts:
        interrupts.check()
        for _ in range(times):
            press(number)
        moments.append("before the check")
        interrupts.check()
        moments.append("after the check")


@every_signal
@pytest.mark.parametrize(("times", "reached"), [(1, ["before the check"]), (2, [])])
def test_first_waits_for_the_check_and_a_second_does_not(times: int, reached: list[str], number: int) -> None:
    moments: list[str] = []
    with pytest.raises(KeyboardInterrupt) as ended:
        press_within_a_block(times, moments, number)
    assert moments == reached
    assert str(ended.value) == signal.Signals(number).name


@every_signal
def test_impatient_block_ends_at_once(number: int) -> None:
    with pytest.raises(KeyboardInterrupt), Interrupts(patient=False):
        press(number)


def hold_through_signals(numbers: tuple[int, ...], moments: list[str]) -> None:
    with Interrupts(patient=False), held():
        for number in numbers:
            press(number)
        with held():
            press()
        moments.append("end of the block")
    moments.append("after it")


@every_signal
def test_held_block_is_not_cut_in_two_and_tells_of_the_first_signal(number: int) -> None:
    moments: list[str] = []
    with pytest.raises(KeyboardInterrupt) as ended:
        hold_through_signals((number, *ENDING), moments)
    assert moments == ["end of the block"]
    assert str(ended.value) == signal.Signals(number).name


def test_signal_in_a_held_block_waits_for_the_check_of_a_patient_one() -> None:
    with Interrupts(patient=False), Interrupts() as patient:
        with held():
            press()
        with pytest.raises(KeyboardInterrupt):
            patient.check()


def test_innermost_block_decides() -> None:
    with Interrupts(patient=False):
        with Interrupts() as patient:
            press()
            with pytest.raises(KeyboardInterrupt):
                patient.check()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_signal_is_felt_where_the_block_has_ended_within_a_held_one() -> None:
    with pytest.raises(KeyboardInterrupt), held(), Interrupts(patient=False):
        press()


def test_held_without_a_block_leaves_the_signals_as_they_are() -> None:
    with pytest.raises(KeyboardInterrupt), held():
        press()


@every_signal
def test_afterwards_all_is_as_before(number: int) -> None:
    before = signal.getsignal(number)
    with Interrupts(), Interrupts(patient=False):
        assert signal.getsignal(number) is not before
    assert signal.getsignal(number) == before


@every_signal
def test_ignored_signals_stay_ignored(number: int) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            press(number)
            interrupts.check()
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_other_threads_may_use_it() -> None:
    done: list[bool] = []

    def use() -> None:
        with Interrupts() as interrupts, held():
            interrupts.check()
            done.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert done == [True]


def test_what_was_there_before_a_block_is_there_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that leaves at once does so between its blocks, too."""
    monkeypatch.setattr("atexit.register", lambda *_: None)
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        leave_at_once()
        leaving = {number: signal.getsignal(number) for number in ENDING}
        with Interrupts():
            assert all(signal.getsignal(number) != leaving[number] != before[number] for number in ENDING)
        assert {number: signal.getsignal(number) for number in ENDING} == leaving
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
