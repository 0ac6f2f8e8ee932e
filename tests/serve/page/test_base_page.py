"""A production host has the page: its files are in the wheel, and it answers without the extra."""

import subprocess
from pathlib import Path

from tests.serve.page.conftest import RECORDED

ANSWER = """
import json, sys, urllib.request
from pathlib import Path
from poolpilot.serve.page.page_application import ASSETS
from poolpilot.serve.page.page_server import PageServer
server = PageServer(Path(sys.argv[1]), 0, plays=True)
with server.running():
    ask = lambda path: urllib.request.urlopen(server.url + path).read()
    sizes = [len(ask("" if name == "page.html" else name)) for name in ASSETS]
    print(min(sizes) > 100, len(json.loads(ask("v1/servers"))["servers"]), b"poolpilot_tuner_state" in ask("metrics"))
    played = json.loads(ask("v1/play?profile=page_faults&pool_size=16&oversubscribe=3&stall_limit_ms=10"))
    print(played["chosen"]["throughput_per_s"] > 0)
"""


def test_page_answers_in_the_base_installation(base_python: Path, tmp_path: Path) -> None:
    command = [str(base_python), "-c", ANSWER, str(RECORDED)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (result.stdout.split(), result.stderr) == (["True", "3", "True", "True"], "")
