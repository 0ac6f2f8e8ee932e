"""Ctrl-C waits for a good moment, but not twice, and is as it was afterwards."""

import os
import signal
import threading

import pytest

from poolpilot.env.targets.interrupts import Interrupts


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def press_within_a_block(times: int, moments: list[str]) -> None:
    with Interrupts() as interrupts:
        interrupts.check()
        for _ in range(times):
            press()
        moments.append("before the check")
        interrupts.check()
        moments.append("after the check")


@pytest.mark.parametrize(("times", "reached"), [(1, ["before the check"]), (2, [])])
def test_first_waits_for_the_check_and_a_second_does_not(times: int, reached: list[str]) -> None:
    moments: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        press_within_a_block(times, moments)
    assert moments == reached


def test_afterwards_it_does_not_wait() -> None:
    with Interrupts():
        pass
    with pytest.raises(KeyboardInterrupt):
        press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ignored_interrupts_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            press()
            interrupts.check()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_may_use_it() -> None:
    done: list[bool] = []

    def use() -> None:
        with Interrupts() as interrupts:
            interrupts.check()
            done.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert done == [True]
