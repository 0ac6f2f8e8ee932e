"""A restoration that fails is told apart from what the work met."""

import io
import os
import signal

import pytest
from rich.console import Console

from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.restoration import ApplyFirst, restoring
from poolpilot.errors import LoadError, NotBroughtBackError, PoolPilotError, ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple


class OnceSet(CurveServer):
    """Is set once and then refuses."""

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        if self.tuple_in_force() != PoolTuple(2, 3, 500):
            raise ServerError("it refuses")
        return super().apply(pool_tuple)


def worked_on(server: CurveServer, error: PoolPilotError | None) -> None:
    """Sets something else, meets an error if there is one, and restores."""
    with restoring(ApplyFirst(server), "learn", Console(file=io.StringIO())) as first:
        server.apply(first.with_core((8, 3, 500)))
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [None, LoadError("the load is gone")], ids=["good end", "error"])
def test_way_back_that_fails_is_told_apart(error: PoolPilotError | None) -> None:
    """Before, it was an error as any other, and who goes on after those went on after this one."""
    with pytest.raises(NotBroughtBackError, match="could not be brought back: it refuses"):
        worked_on(OnceSet([(1, 100.0)], cpus=2), error)


@pytest.mark.parametrize("error", [None, LoadError("the load is gone")], ids=["good end", "error"])
def test_way_back_that_fails_is_told_though_a_signal_has_come(error: PoolPilotError | None) -> None:
    """Nobody else knows what is in force; before, the command ended without a word."""

    class Interrupted(OnceSet):
        def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
            if self.tuple_in_force() != PoolTuple(2, 3, 500):
                os.kill(os.getpid(), signal.SIGTERM)
            return super().apply(pool_tuple)

    with pytest.raises(NotBroughtBackError, match="it refuses"):
        worked_on(Interrupted([(1, 100.0)], cpus=2), error)


def test_a_signal_that_comes_on_the_way_back_ends_the_command_once_it_is_gone() -> None:
    class Interrupted(CurveServer):
        def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
            if pool_tuple == PoolTuple(2, 3, 500):
                os.kill(os.getpid(), signal.SIGTERM)
            return super().apply(pool_tuple)

    server = Interrupted([(1, 100.0)], cpus=2)
    with pytest.raises(KeyboardInterrupt):
        worked_on(server, None)
    assert server.tuple_in_force() == PoolTuple(2, 3, 500)


def test_error_of_the_work_stays_itself_where_the_way_back_is_gone() -> None:
    server = CurveServer([(1, 100.0)], cpus=2)
    with pytest.raises(LoadError):
        worked_on(server, LoadError("the load is gone"))
    assert server.tuple_in_force() == PoolTuple(2, 3, 500)
