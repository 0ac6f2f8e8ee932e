"""The same workloads and options on the simulated pool."""

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.bench.serving.served import native_options
from poolpilot.pipelines.bench.serving.two_queues import Options

CORE = ("pool_size", "oversubscribe", "timer_interval_ms")
"""Options that a simulated server takes as its tuple."""


def simulated_window(
    workload: Workload, options: Options, settle_s: float, window_s: float, machine: Machine = CALIBRATED
) -> Window:
    """A window of a fresh simulated pool.

    Args:
        workload: What is sent, and on how many processors.
        options: Start-up options of the pool, as the live one takes them; what is not named is stock.
        settle_s: Virtual seconds before the window.
        window_s: Length of the window in virtual seconds.
        machine: The machine.

    Raises:
        SettingError: An option is outside its range.
        ServerError: The simulation cannot go on.
    """
    stock = KnobSpace.stock(workload.cpus).default_tuple().as_dict()
    initial = PoolTuple.from_dict({**stock, **{name: options[name] for name in CORE if name in options}})
    rest = {name: value for name, value in native_options(options).items() if name not in CORE}
    server = SimulatedServer(workload, machine, initial=initial, **rest)
    server.run_for(settle_s)
    before = server.snapshot()
    server.run_for(window_s)
    return Window.between(before, server.snapshot())
