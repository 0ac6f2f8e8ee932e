"""The load generator's process: commands on stdin, replies on stdout, one JSON object a line.

The first line configures it, `{"address", "workload", "cpus", "settings"}`; then come `{"command": "report"}`,
`{"command": "rate", "rate_per_s"}` and `{"command": "stop"}`. The end of stdin is a stop, so that the process never
outlives its parent. It imports next to nothing: it must start fast and disturb the server beside it little.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from poolpilot.native_pool._core import LoadClass, LoadGenerator, LoadStep
from poolpilot.native_pool.workload import RequestClass, Workload

SEED_MASK = 2**64 - 1


def main() -> int:
    """Serves one workload until a stop or the end of stdin; returns the exit status."""
    try:
        generator = start(json.loads(sys.stdin.readline()))
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reply({"error": f"{error}"})
        return 1
    failures: list[str] = []
    thread = threading.Thread(target=drive, args=(generator.run, failures), name="load")
    thread.start()
    reply({"ready": True})
    for line in sys.stdin:
        answer = answer_to(line, generator)
        if answer is None:
            break
        reply(answer)
    generator.request_stop()
    thread.join()
    reply({"error": failures[0]} if failures else {"report": generator.report()})
    return 1 if failures else 0


def start(config: dict[str, Any]) -> LoadGenerator:
    """Pins the process and connects a generator for the configured workload."""
    if config["cpus"] is not None:
        pin(config["cpus"])
    workload = Workload.from_dict(config["workload"])
    generator = LoadGenerator(
        address=config["address"],
        classes=[native_class(one) for one in workload.classes],
        connections=workload.connections,
        rate_per_s=workload.rate_per_s,
        seed=workload.seed & SEED_MASK,
        **config["settings"],
    )
    generator.connect()
    return generator


def pin(cpus: list[int]) -> None:
    """Restricts this process to some processors."""
    try:
        os.sched_setaffinity(0, cpus)
    except OSError as error:
        allowed = sorted(os.sched_getaffinity(0))
        raise ValueError(f"Cannot pin the load process to processors {cpus}; this host offers {allowed}.") from error


def native_class(one: RequestClass) -> LoadClass:
    """The extension's form of a request class."""
    steps = [LoadStep(**asdict(step)) for step in one.steps]
    return LoadClass(name=one.name, steps=steps, share=one.share, think_ms=one.think_ms)


def drive(run: Callable[[], None], failures: list[str]) -> None:
    """Runs the native loop, which holds no GIL, and keeps what went wrong."""
    try:
        run()
    except RuntimeError as error:
        failures.append(f"{error}")


def answer_to(line: str, generator: LoadGenerator) -> dict[str, Any] | None:
    """The reply to one command; None for a stop."""
    try:
        command = json.loads(line)
        match command["command"]:
            case "stop":
                return None
            case "report":
                return {"report": generator.report()}
            case "rate":
                generator.set_rate(command["rate_per_s"])
                return {"rate_per_s": command["rate_per_s"]}
            case other:
                return {"error": f"The load process knows no command {other!r}."}
    except (KeyError, TypeError, ValueError) as error:
        return {"error": f"{error}"}


def reply(fields: dict[str, Any]) -> None:
    """Writes one line; unbuffered, so that nothing is left to flush when the parent is gone."""
    try:
        os.write(sys.stdout.fileno(), f"{json.dumps(fields)}\n".encode())
    except BrokenPipeError:
        return


if __name__ == "__main__":
    sys.exit(main())
