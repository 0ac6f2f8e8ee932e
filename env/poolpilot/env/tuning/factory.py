"""One's own server, named as `module:factory`: a function without arguments that opens a `PoolServer` under load.

The server may have an attribute `objective`, an `Objective`; without it throughput counts. Modules are looked for in
the current folder first, as `python -m` does.
"""

import importlib
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.target import Target
from poolpilot.errors import PoolPilotError, SettingError
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot

METHODS = ("tuple_in_force", "apply", "run_for", "snapshot", "close")
"""What a `PoolServer` must be able to do, besides naming its knobs and being a context manager."""


def own_target(named: str) -> Target:
    """Opens one's own server.

    Args:
        named: `module:factory`.

    Raises:
        SettingError: The factory cannot be found, fails, or what it opens is no pool server.
        ServerError: The server cannot be started.
    """
    server = open_server(named)
    return Target(server, objective_of(server), named, origin={"backend": "own", "server": named})


def open_server(named: str) -> PoolServer:
    """Opens a server and makes sure that it can be tuned.

    Args:
        named: `module:factory`.

    Raises:
        SettingError: The factory cannot be found, fails, or what it opens is no pool server.
        ServerError: The server cannot be started.
    """
    server: Any = _made(load_factory(named), f"{named}, called without arguments, opens no server")
    check_methods(named, server)
    try:
        check_counts(named, _made(server.snapshot, f"the server of {named} gives no snapshot"))
    except BaseException:
        server.close()
        raise
    opened: PoolServer = server
    return opened


def load_factory(named: str) -> Callable[[], Any]:
    """Finds a factory.

    Args:
        named: `module:factory`.

    Raises:
        SettingError: There is no such module or attribute, it fails to be imported, or it cannot be called.

    Examples:
        >>> load_factory("os:getcwd").__name__
        'getcwd'
    """
    module_name, colon, attribute = named.partition(":")
    if not (all(module_name.split(".")) and colon and attribute):
        raise SettingError(f"a server is named as module:factory, such as my_pool:open_server; this is {named!r}")
    module = _imported(module_name)
    factory = getattr(module, attribute, None)
    if factory is None:
        place = getattr(module, "__file__", "built in")
        raise SettingError(f"the module {module_name!r} ({place}) has no {attribute!r}")
    if not callable(factory):
        kind = type(factory).__name__
        raise SettingError(f"{named} is of type {kind} and cannot be called; name a function that opens a server")
    open_own: Callable[[], Any] = factory
    return open_own


def _imported(name: str) -> Any:
    """Imports a module, looking in the current folder first."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return _made(lambda: _found(name, here), f"the module {name!r} of --server cannot be imported")
    finally:
        sys.path.remove(here)


def _found(name: str, here: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise SettingError(
                f"the module {name!r} of --server needs {error.name!r}, which is not installed"
            ) from error
        raise SettingError(f"there is no module {name!r}, neither in {here} nor among those installed") from error


def _made(make: Callable[[], Any], otherwise: str) -> Any:
    """What somebody else's code makes.

    Args:
        make: Their code.
        otherwise: What it means that it fails, for the error.

    Raises:
        SettingError: It fails, in whatever way; the text says how, and in which line.
    """
    try:
        return make()
    except PoolPilotError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))
        theirs = last.filename != __file__ and not last.filename.startswith("<")
        place = f" ({last.filename}, line {last.lineno})" if theirs else ""
        raise SettingError(f"{otherwise}: {said}{place}") from error


def check_methods(named: str, server: Any) -> None:
    """Refuses what is no pool server.

    Args:
        named: What it is called in the error.
        server: What the factory returned.

    Raises:
        SettingError: A method is missing, or the knobs are not a `KnobSpace` with a pool size.
    """
    absent = [f"{method}()" for method in METHODS if not callable(getattr(server, method, None))]
    absent += [method for method in ("__enter__", "__exit__") if not hasattr(type(server), method)]
    if absent:
        kind = type(server).__name__
        raise SettingError(f"{named} has opened something of type {kind} that lacks {', '.join(absent)}")
    knobs = getattr(server, "knobs", None)
    if not isinstance(knobs, KnobSpace) or "pool_size" not in knobs.knobs:
        raise SettingError(f"the server of {named} needs a property 'knobs': a KnobSpace in which there is a pool_size")


def check_counts(named: str, snapshot: Snapshot) -> None:
    """Refuses a server that does not count what a climb goes by.

    Args:
        named: What the server is called in the error.
        snapshot: A snapshot of it.

    Raises:
        SettingError: A counter or gauge is missing; the text names it.
    """
    if "connections" not in snapshot.gauges:
        raise SettingError(
            f"snapshots of {named} lack the gauge 'connections', the number of clients: without it no climb moves"
        )
    if "completed" not in snapshot.counters and not any(
        name.startswith(LATENCY_PREFIX) for name in snapshot.histograms
    ):
        raise SettingError(
            f"snapshots of {named} lack the counter 'completed', the requests answered since the start, and a "
            f"histogram '{LATENCY_PREFIX}<class>' in its place: without one of them nothing tells which size is good"
        )


def objective_of(server: PoolServer) -> Objective:
    """What counts on one's own server: its attribute `objective`, else throughput at a small price of threads."""
    objective = getattr(server, "objective", None)
    return objective if isinstance(objective, Objective) else Objective()
