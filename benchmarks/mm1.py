"""An M/M/1 queue in our engine and in Cimba, in turn on one core of this machine.

How to run: `python benchmarks/mm1.py [--cimba PATH] [--pairs 15] [--json PATH]`, on a quiet machine. PATH is a checkout
of github.com/ambonvik/cimba with a build folder, whose own `benchmark/MM1_single` is run: a million customers at a load
of 0.9. Ours serves as many. To build Cimba 3.0 with nasm and gcc 12, which lacks some of C23:

    meson setup build -Denable_docs=false -Denable_cuda_tutorials=false --buildtype=release \
        "-Dc_args=['-Dstatic_assert=_Static_assert','-include','stdbool.h']"
    ninja -C build benchmark/MM1_single

Its fastest build, without assertions and guided by a profile, is made in a second folder `build-bench` likewise, with
`-Dbenchopt=generate` and, for release candidate 1, `'-Ddo_assert(x)=((void)0)'` among the arguments; run the program in
that folder twice; then `meson configure build-bench -Dbenchopt=use` and build again. Results to expect: ours serves
more customers a second than either.
"""

import argparse
import resource
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from poolpilot.env.output import write_json
from poolpilot.native_pool._core import SimulatedNetwork, SimulatedStation

CUSTOMERS = 1_000_000
LOAD = 0.9
BUILDS = {"release": "build", "fastest": "build-bench"}
PROGRAM = "benchmark/MM1_single"
PUBLISHED = "32 million events a second on one core of an AMD Threadripper 3970X (documentation of Cimba 3.0)"


def ours_s(seed: int) -> float:
    """Processor time for a million customers."""
    station = SimulatedStation(mean_s=[1.0])
    network = SimulatedNetwork(stations=[station], rate_per_s=[LOAD], seed=seed)
    begun_s = time.process_time()
    network.run(CUSTOMERS)
    return time.process_time() - begun_s


def cimba_s(program: Path) -> float:
    """Processor time of its program, which includes a millisecond to start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turn(theirs: Callable[[], float], pairs: int) -> dict[str, float]:
    """Customers a second of both, and the ratio with its 95 % interval."""
    times = np.array([(ours_s(seed), theirs()) for seed in range(pairs)])
    ratios = np.log(times[:, 1] / times[:, 0])
    half = float(stats.t.ppf(0.975, pairs - 1) * stats.sem(ratios))
    mean = float(ratios.mean())
    return {
        "ours_per_s": CUSTOMERS / float(np.median(times[:, 0])),
        "cimba_per_s": CUSTOMERS / float(np.median(times[:, 1])),
        "ratio": float(np.exp(mean)),
        "low": float(np.exp(mean - half)),
        "high": float(np.exp(mean + half)),
        "pairs": pairs,
    }


def compared(checkout: Path | None, pairs: int) -> dict[str, Any]:
    """Each build of Cimba that is there; what is not is named."""
    result: dict[str, Any] = {"published": PUBLISHED, "builds": {}, "absent": {}}
    for name, folder in BUILDS.items():
        program = None if checkout is None else checkout / folder / PROGRAM
        if program is None or not program.is_file():
            result["absent"][name] = "no checkout was named" if checkout is None else f"{folder}/{PROGRAM} is not built"
            continue
        result["builds"][name] = in_turn(partial(cimba_s, program), pairs)
    if not result["builds"]:
        result["ours_per_s"] = CUSTOMERS / float(np.median([ours_s(seed) for seed in range(pairs)]))
    return result


def main() -> None:
    """Prints the ratios and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cimba", type=Path)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    result = compared(arguments.cimba, arguments.pairs)
    for name, one in result["builds"].items():
        print(
            f"Cimba, {name}: ours {one['ours_per_s']:,.0f} customers/s, Cimba {one['cimba_per_s']:,.0f}, "
            f"ratio {one['ratio']:.2f} ({one['low']:.2f} .. {one['high']:.2f})"
        )
    for name, why in result["absent"].items():
        print(f"Cimba, {name}: not measured, {why}; published: {PUBLISHED}")
    write_json(arguments.json, result)


if __name__ == "__main__":
    main()
