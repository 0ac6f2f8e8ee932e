"""1,024 connections held while the tuple is changed again and again: nothing lost, nothing left.

How to run: `python benchmarks/hold.py [--seconds 60] [--changes 100000] [--json PATH]`. Results to expect: sent equals
completed at the client and at the server, no duplicates, the descriptors and threads of before, every recorded
decision of a group replayed alike.
"""

import argparse
import random
import sys
import time
from pathlib import Path

from poolpilot.env.output import write_json
from poolpilot.native_pool import LivePool
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.workload import RequestClass, Step, Workload

STEPS = (
    Step("cpu", us=50, variation=0.5),
    Step("wait", us=4000, variation=0.5, reported=True),
    Step("acquire", latch=0, spread=8, spin_us=50, waiter_cost_us=2),
    Step("cpu", us=30),
    Step("release", latch=0, spread=8),
    Step("wait", us=500),
)
WORKLOAD = Workload("hold", "benchmark", (RequestClass("all", STEPS),), connections=1024)


def left_open() -> tuple[int, int]:
    """Descriptors and threads of this process."""
    return len(list(Path("/proc/self/fd").iterdir())), len(list(Path("/proc/self/task").iterdir()))


def change_and_hold(pool: LivePool, changes: int, seconds: float) -> None:
    """Changes the tuple so many times, evenly over some seconds."""
    rng = random.Random(1)
    for _ in range(changes):
        pool.set_tuple(
            pool_size=rng.randint(1, 128),
            oversubscribe=rng.choice([1, 3, 10]),
            timer_interval_ms=rng.choice([1, 10, 500]),
            idle_timeout_s=rng.choice([0.1, 1.0, 60.0]),
        )
        time.sleep(seconds / changes)


def main() -> int:
    """Runs once; returns 1 when anything was lost or left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    before = left_open()
    pool = LivePool(pool_size=2, class_names=["all"], record_events=True)
    pool.start()
    with Load(pool.address, WORKLOAD) as load:
        change_and_hold(pool, arguments.changes, arguments.seconds)
        report = load.stop()
    server_completed = int(pool.snapshot()["counters"]["completed"])
    pool.close()
    recorded, same = pool.replayed_events()
    result = {
        "connections": WORKLOAD.connections,
        "changes": arguments.changes,
        "sent": report.sent,
        "completed": report.completed,
        "completed_at_server": server_completed,
        "unexpected": report.unexpected,
        "lost": report.lost,
        "descriptors_threads_before": before,
        "descriptors_threads_after": left_open(),
        "events_recorded": recorded,
        "events_replayed_alike": same,
    }
    for name, value in result.items():
        print(f"{name:28s} {value}")
    write_json(arguments.json, result)
    conserved = report.sent == report.completed == server_completed and not report.unexpected and not report.lost
    return 0 if conserved and recorded == same and before == left_open() else 1


if __name__ == "__main__":
    sys.exit(main())
