"""What if: how would a recorded workload do under other pool sizes?

A window of counters, measured under one configuration, is turned back into a workload of the same means, which is then
simulated under every pool size. The windows here come with the package and are part of a sweep, so what was measured
under the other sizes can be printed beside it. With a profile of your own that is `poolpilot advise --simulate FILE
--grid`, where FILE is what `poolpilot climb --json` or `poolpilot lab load --json` wrote.

Run it in a clone after `pip install .`; the base installation is enough:

    python examples/what_if.py
    python examples/what_if.py --family latch_single

Expected output: one row for each pool size.

    page_faults-1-1, measured under (2, 3, 500): 331 requests a second, simulated 331
    pool size  simulated/s  measured/s
            1          166         143
            2          331         331
            4          658         596
            8         1310        2178
           16         2572        4078
           32         4261        4413
           64         4284        5161

One window cannot tell everything: of `latch_single` it does not show how much a latch costs once many wait for it.
"""

import argparse
from dataclasses import replace

from poolpilot.env import Scenario, observed_workload, sample_families, sample_sweeps, simulate_batch
from poolpilot.native_pool.simulation import CALIBRATED


def main() -> None:
    """Simulates one recorded window under all sizes of its sweep."""
    parser = argparse.ArgumentParser(description="Simulate a recorded workload under other pool sizes.")
    parser.add_argument("--family", metavar="NAME", choices=sample_families(), default="page_faults")
    sweep = sample_sweeps(parser.parse_args().family)[0]
    in_force = sweep.limits.default_tuple()
    window = sweep.entries[in_force.core].windows[0]
    workload = observed_workload(window, sweep.limits, sweep.objective, CALIBRATED)
    sizes = sorted({core[0] for core in sweep.entries})
    tuples = [in_force, *(replace(in_force, pool_size=size) for size in sizes)]
    simulated = simulate_batch([Scenario(workload, CALIBRATED)], tuples, requests=4000)["goodput_per_s"]
    measured = [sweep.objective.goodput_per_s(sweep.entries[one.core].windows[0]) for one in tuples]
    print(
        f"{sweep.workload_id}, measured under {in_force}: {measured[0]:.0f} requests a second, "
        f"simulated {simulated[0]:.0f}"
    )
    print("pool size  simulated/s  measured/s")
    for size, here, there in zip(sizes, simulated[1:], measured[1:], strict=True):
        print(f"{size:9}{here:13.0f}{there:12.0f}")


if __name__ == "__main__":
    main()
