"""What each discipline of the queues promises, beside what it does in the simulator.

How to run: `python benchmarks/disciplines.py [--json benchmarks/reports/disciplines.json] [--seeds 10]` (a minute; the
same numbers every time). Three parts: shares of requests or of time by weight, of classes that never run out of
requests; the longest stay of a patient request beside the bound of its discipline; the order of random requests beside
oracles that say the rule again. Results to expect: every share within 2 points of its weight, every stay within its
bound, every sequence as its oracle says. `benchmarks/pool_page.py` writes the tables of docs/results-pool.md.
"""

import argparse
from pathlib import Path

from rich.progress import track

from poolpilot.env.output import write_json
from poolpilot.pipelines.bench.disciplines.bounds import BOUND_PLANS, bound_row
from poolpilot.pipelines.bench.disciplines.orders import order_rows
from poolpilot.pipelines.bench.disciplines.shares import SIMULATED_PLANS, share_row

SECONDS = 20.0
SEQUENCES = 1000


def main() -> None:
    """Runs everything and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/disciplines.json"))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    seeds = arguments.seeds
    result = {
        "seeds": seeds,
        "seconds": SECONDS,
        "shares": [share_row(plan, seeds, SECONDS) for plan in track(SIMULATED_PLANS, "shares")],
        "bounds": [bound_row(plan, seeds, SECONDS) for plan in track(BOUND_PLANS, "bounds")],
        "orders": order_rows(SEQUENCES),
    }
    write_json(arguments.json, result)
    for row in result["shares"]:
        print(f"{row['plan']:48} {row['points_off']:6.2f} points off")
    for row in result["bounds"]:
        bound = "none" if row["bound_ms"] is None else f"{row['bound_ms']:.1f} ms"
        print(f"{row['discipline']:24} bound {bound:>10}, longest {row['longest_ms']:7.1f} ms of {row['requests']:,}")
    for row in result["orders"]:
        print(f"{row['discipline']:24} {row['alike']} of {row['sequences']} alike: {row['promise']}")


if __name__ == "__main__":
    main()
