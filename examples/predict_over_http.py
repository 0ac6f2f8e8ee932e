"""Asks the prediction service over HTTP, as a program in any language would.

`poolpilot serve` is started on a free port, a window is sent to `POST /v1/predict`, the answer is printed, and the
service is ended. The window is a recorded one that comes with the package; yours is what `poolpilot advise --json` or
`poolpilot climb --json` writes, or the difference of two snapshots (`Window.between`).

Run it in a clone after `pip install .`; the base installation is enough:

    python examples/predict_over_http.py

Expected output: the configuration that was in force, the one to set, the expected gain in ln(goodput), and why.

    GET  /healthz    -> 200 {'status': 'ok', 'schema_version': 1}
    POST /v1/predict -> 200
    change: (2, 3, 500) -> (64, 3, 500), expected gain 2.46
    workers spend 93 % of a round off the CPU without telling the pool, so more groups can run
    the CPU is only 7 % used, so there is room for more groups
    45.7 requests wait in the queue, so more groups serve them sooner
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from poolpilot.env import sample_sweeps
from poolpilot.featurizer import PoolTuple
from poolpilot.models import as_body

FAMILY = "page_faults"
"""Family of the recorded workload: queries that wait for the disk without telling the pool."""


@contextmanager
def service() -> Iterator[str]:
    """The address of a service that runs for the duration of the block."""
    command = [str(Path(sys.executable).with_name("poolpilot")), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()  # POST http://127.0.0.1:40123/v1/predict (Ctrl-C ends)
            yield line.split()[1].removesuffix("/v1/predict")
        finally:
            process.terminate()


def main() -> None:
    """Posts one window and prints the answer."""
    sweep = sample_sweeps(FAMILY)[0]
    in_force = sweep.limits.default_tuple()
    window = sweep.entries[in_force.core].windows[0]
    body = json.dumps(as_body([window], sweep.limits, sweep.objective)).encode()
    with service() as address:
        with urlopen(f"{address}/healthz", timeout=30.0) as health:
            print(f"GET  /healthz    -> {health.status} {json.load(health)}")
        request = Request(f"{address}/v1/predict", body, {"content-type": "application/json"})
        with urlopen(request, timeout=30.0) as answer:
            print(f"POST /v1/predict -> {answer.status}")
            advice = json.load(answer)
    gain = "" if advice["abstained"] else f", expected gain {advice['expected_gain']:.2f}"
    print(f"{advice['verdict']}: {window.pool_tuple} -> {PoolTuple.from_dict(advice['pool_tuple'])}{gain}")
    print(*advice["reasons"], sep="\n")


if __name__ == "__main__":
    main()
