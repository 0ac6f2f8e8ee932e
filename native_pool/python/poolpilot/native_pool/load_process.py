"""The load generator's process: commands on stdin, replies on stdout, one JSON object a line.

The first line configures it, `{"address", "workload", "cpus", "settings", "part", "parts"}`, and is answered once all
is connected; `{"command": "begin"}` has it send; then come `{"command": "report"}`, `{"command": "rate", "rate_per_s"}`
and `{"command": "stop"}`. The end of stdin is a stop, so that the process never outlives its parent. It imports next to
nothing: it must start fast and disturb the server beside it little.
"""

import json
import os
import sys
import threading
from dataclasses import asdict
from typing import Any

from poolpilot.native_pool._core import LoadClass, LoadGenerator, LoadStep
from poolpilot.native_pool.workload import RequestClass, Workload

SEED_MASK = 2**64 - 1


def main() -> int:
    """Serves one workload until a stop or the end of stdin; returns the exit status."""
    try:
        generator = connected(json.loads(sys.stdin.readline()))
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reply({"error": f"{error}"})
        return 1
    reply({"connected": True})
    running = RunningLoad(generator)
    for line in sys.stdin:
        answer = answer_to(line, running)
        if answer is None:
            break
        reply(answer)
    running.stop()
    reply(running.report())
    return 1 if running.failure else 0


class RunningLoad:
    """A generator, the thread that drives it once it has begun, and what went wrong in it.

    Args:
        generator: The generator, connected.
    """

    def __init__(self, generator: LoadGenerator) -> None:
        self.generator = generator
        self.failure: str | None = None
        self._thread = threading.Thread(target=self._drive, name="load")

    def begin(self) -> None:
        """Starts to send.

        Raises:
            RuntimeError: It has begun already.
        """
        self._thread.start()

    def stop(self) -> None:
        """Has it drain and close, whether it has begun or not."""
        self.generator.request_stop()
        if self._thread.ident is None:
            self.begin()
        self._thread.join()

    def report(self) -> dict[str, Any]:
        """What it has counted, or why it ended."""
        return {"error": self.failure} if self.failure else {"report": self.generator.report()}

    def _drive(self) -> None:
        """Runs the native loop, which holds no GIL."""
        try:
            self.generator.run()
        except RuntimeError as error:
            self.failure = f"{error}"


def connected(config: dict[str, Any]) -> LoadGenerator:
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
        part=config["part"],
        parts=config["parts"],
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


def answer_to(line: str, running: RunningLoad) -> dict[str, Any] | None:
    """The reply to one command; None for a stop."""
    try:
        command = json.loads(line)
        match command["command"]:
            case "stop":
                return None
            case "begin":
                running.begin()
                return {"begun": True}
            case "report":
                return running.report()
            case "rate":
                running.generator.set_rate(command["rate_per_s"])
                return {"rate_per_s": command["rate_per_s"]}
            case other:
                return {"error": f"The load process knows no command {other!r}."}
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        return {"error": f"{error}"}


def reply(fields: dict[str, Any]) -> None:
    """Writes one line; unbuffered, so that nothing is left to flush when the parent is gone."""
    try:
        os.write(sys.stdout.fileno(), f"{json.dumps(fields)}\n".encode())
    except BrokenPipeError:
        return


if __name__ == "__main__":
    sys.exit(main())
