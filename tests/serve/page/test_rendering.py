"""The page in a browser without a screen: light, dark and as wide as a phone.

It needs Chromium (Debian: apt-get install chromium), on the PATH or named by POOLPILOT_CHROMIUM. Pictures go to the
folder POOLPILOT_SCREENSHOTS, where that is named: `make screenshots`.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from tests.serve.page.conftest import RECORDED, WrittenLog
from tests.serve.tuner.conftest import WINDOW_S

from poolpilot.serve.page import page_application, page_server
from poolpilot.serve.page.followed_servers import FollowedServers
from poolpilot.serve.page.loopback_only import SECURITY_HEADERS
from poolpilot.serve.page.page_application import create_page
from poolpilot.serve.page.page_server import PageServer
from poolpilot.serve.page.play.playground import Playground
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

CHROMIUM = os.environ.get("POOLPILOT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium (Debian: apt-get install chromium)")

PROBE = Path(__file__).with_name("probe.js")
HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


class View(NamedTuple):
    """How the page is viewed."""

    name: str
    width: int
    height: int
    dark: bool = False
    server: str = "db2"


LIGHT = View("light", 1100, 1500)
DARK = View("dark", 1100, 1500, dark=True, server="db1")
PHONE = View("phone", 390, 1500, server="db3")
VIEWS = (LIGHT, DARK, PHONE)


def create_probed_page(servers: FollowedServers, playground: Playground | None, turn: Callable[[], None]) -> Starlette:
    """The page, and the same in a frame as wide as is wanted, with a script that looks at it and may ask for a turn."""
    page = create_page(servers, playground)

    async def framed(request: Request) -> Response:
        width, server = int(request.query_params["width"]), request.query_params["server"]
        place = f"probed?{request.query_params['probe']}#server={quote(server)}"
        frame = f'<iframe src="{place}" width="{width}" height="1500" frameborder="0"></iframe>'
        return Response(f"<!doctype html><body>{frame}</body>", media_type="text/html")

    async def probed(request: Request) -> Response:
        name = request.query_params.get("page", "page")
        text = (Path(page_server.__file__).parent / f"assets/{name}.html").read_text(encoding="utf-8")
        text = text.replace("<script", '<script type="module" src="probe.js"></script><script', 1)
        return Response(text, headers=SECURITY_HEADERS, media_type="text/html")

    async def probe(_: Request) -> Response:
        return Response(PROBE.read_text(encoding="utf-8"), media_type="text/javascript")

    async def take_turn(_: Request) -> Response:
        turn()
        return Response()

    own = (("/turn", take_turn), ("/framed", framed), ("/probed", probed), ("/probe.js", probe))
    return Starlette(routes=[*(Route(path, answer) for path, answer in own), Mount("/", page)])


def browse(url: str, view: View, profile: Path, *options: str) -> str:
    """What Chromium prints; the time of the page runs ahead until nothing more happens, or for ten seconds of it."""
    assert CHROMIUM is not None
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
        *(f"--user-data-dir={profile}", f"--window-size={view.width},{view.height}", "--virtual-time-budget=10000"),
        f"--blink-settings=preferredColorScheme={0 if view.dark else 1}",
        *options,
        url,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def found_in(url: str, view: View, profile: Path, probe: str = "") -> dict[str, Any]:
    """What the script found in the page."""
    asked = urlencode({"width": view.width, "server": view.server, "probe": probe})
    dom = browse(f"{url}framed?{asked}", view, profile, "--dump-dom")
    told = re.search(r'<script type="application/json" id="found">(.*?)</script>', dom, re.DOTALL)
    assert told is not None, dom[:5000]
    values: dict[str, Any] = json.loads(told[1])
    return values


@contextmanager
def served(folder: Path, turn: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Serves the logs of a folder, and gives where; `turn` is what a page of them may ask for."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page_server, "create_page", lambda servers, play: create_probed_page(servers, play, turn))
        server = PageServer(folder, 0, plays=True)
    with server.running():
        yield server.url


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serves the recorded logs as if they were written just now."""
    folder = tmp_path_factory.mktemp("recorded")
    shutil.copytree(RECORDED, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    with served(folder) as url:
        yield url


@pytest.fixture(scope="module")
def seen(site: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[View], dict[str, Any]]:
    """What is found under an observation; each is looked at once."""
    return cache(lambda view: found_in(site, view, tmp_path_factory.mktemp("profile")))


Seen = Callable[[View], dict[str, Any]]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_everything_is_there_and_nothing_sticks_out(seen: Seen, view: View) -> None:
    found = seen(view)
    assert (found["errors"], found["violations"]) == ([], [])
    assert (found["width"], found["dark"]) == (view.width, view.dark)
    assert (found["scrolls"], found["outside"]) == (False, [])
    assert [name.partition(" (")[0] for name in found["figures"]] == [
        *("Throughput", "Latency", "Pool size", "Oversubscribe", "Stall limit", "State")
    ]
    for said in ("In force", "Incumbent", "Throughput", "Decisions", "Live.", f"{view.server} ("):
        assert said in found["text"]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_texts_stand_out_from_their_ground(seen: Seen, view: View) -> None:
    assert seen(view)["faint"] == []


def test_roll_backs_are_marked_and_told(seen: Seen) -> None:
    found = seen(LIGHT)
    assert found["marks"] == 5
    assert len(found["rollBacks"]) == 1
    assert "back to (2, 6, 250)" in found["rollBacks"][0]
    assert "3, rolled back 1" in found["text"]


def test_connection_that_is_lost_in_mid_try_is_drawn_as_what_it_is(
    written: Callable[..., WrittenLog], tmp_path: Path
) -> None:
    written("logs/db1").lose()
    with served(tmp_path / "logs") as url:
        found = found_in(url, LIGHT._replace(server="db1"), tmp_path / "profile")
    assert found["rollBacks"] == []
    assert found["marks"] == found["page"].count('class="mark state-connection-lost"') == 5
    assert '<rect class="band state-connection-lost"' in found["page"]
    assert '<rect class="band state-roll-back"' not in found["page"]
    assert "1, rolled back 0" in found["text"]
    assert (found["errors"], found["faint"]) == ([], [])


def test_advice_is_told_with_what_it_promises(seen: Seen) -> None:
    text = seen(PHONE)["text"]
    assert "would try (2, 3, 500), but the mode is advise" in text
    assert "mode advise" in text
    assert re.search(r"Would try\s+\(2, 3, 500\)", text)
    assert re.search(r"Expected gain\s+\+\d+ %", text)


def test_it_can_be_used_without_a_mouse(seen: Seen) -> None:
    found = seen(LIGHT)
    latest, earlier, spoken = found["readouts"]
    assert latest != earlier
    assert spoken == earlier
    assert (found["unreachable"], found["unnamed"]) == (0, 0)


def test_page_follows_a_tuner_that_goes_on(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written("logs/db1")
    log.turn(4)
    log.say("one")
    with served(tmp_path / "logs", lambda: log.say("one more")) as url:
        found = found_in(url, LIGHT._replace(server="db1"), tmp_path / "profile", "grows")
    before, after, latest = found["grown"]
    assert after == before + 1
    assert latest.endswith(" one more")
    assert found["errors"] == []


def test_page_stays_with_a_server_until_another_is_chosen(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    logs = [written(f"logs/{name}", server=name) for name in ("db1", "db2")]
    for log in logs:
        log.turn(4)
    os.utime(logs[1].log.path, (1e9, 1e9))
    with served(tmp_path / "logs", logs[1].turn) as url:
        found = found_in(url, LIGHT._replace(server=""), tmp_path / "profile", "stays")
    assert found["stayed"] == ["db1", "db1", True, "db2", [None, "true"]]


def test_older_windows_are_asked_for_until_a_span_is_covered(
    written: Callable[..., WrittenLog], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the spans showed no more than the first answer had brought."""
    monkeypatch.setattr(page_application, "MOST_ROWS", 25)
    written("logs/db1").turn(190)
    with served(tmp_path / "logs") as url:
        found = found_in(url, LIGHT._replace(server="db1"), tmp_path / "profile", "span=600&within=121&all=190")
    assert found["spans"] == [[121, 4], [190, 7]]
    assert found["errors"] == []


@pytest.mark.parametrize(("begins_s", "windows"), [(1_700_000_000.0, 20), (0.0, 10)])
def test_clock_that_is_set_back_hides_nothing_unless_it_is_a_simulated_one(
    written: Callable[..., WrittenLog], tmp_path: Path, begins_s: float, windows: int
) -> None:
    log = written("logs/db1")
    for number in range(20):
        log.turn(unix_s=begins_s + 3600.0 * (number < 10) + 5.0 * number)
    with served(tmp_path / "logs") as url:
        found = found_in(url, LIGHT._replace(server="db1"), tmp_path / "profile")
    line = re.search(r'class="line throughput" d="([^"]*)"', found["page"])
    assert line is not None
    places = [float(each) for each in re.findall(r"[ML]([\d.]+),", line[1])]
    assert (found["windows"], len(places)) == (windows, windows)
    assert places == sorted(places)


@pytest.mark.parametrize(("window_s", "is_silent"), [(5.0, True), (180.0, False)])
def test_tuner_of_long_windows_is_at_work_though_it_is_silent_for_minutes(
    written: Callable[..., WrittenLog], tmp_path: Path, window_s: float, is_silent: bool
) -> None:
    log = written("logs/db1")
    for _ in range(4):
        log.drive.at_s += window_s - WINDOW_S
        log.turn()
    os.utime(log.log.path, (time.time() - 300.0, time.time() - 300.0))
    with served(tmp_path / "logs") as url:
        found = found_in(url, LIGHT._replace(server="db1"), tmp_path / "profile")
    assert ("the tuner has ended, or is stuck" in found["text"]) is is_silent
    assert ("No tuner is at work." in found["text"]) is is_silent


PLAY = "page=play"


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_recorded_profile_can_be_played_with(site: str, tmp_path: Path, view: View) -> None:
    found = found_in(site, view, tmp_path / "profile", PLAY)
    assert (found["errors"], found["violations"]) == ([], [])
    assert (found["width"], found["dark"], found["scrolls"], found["outside"]) == (view.width, view.dark, False, [])
    assert (found["faint"], found["unreachable"], found["unnamed"]) == ([], 0, 0)
    assert found["figures"] == ["Throughput (/s)", "p99 (ms)"]
    assert "nine of ten had" in found["text"]
    before, after = found["played"]
    assert before["knobs"] == ["2", "3", "500 ms"]
    assert after["knobs"] == ["64", "3", "500 ms"]
    assert before["results"] != after["results"]
    assert all("Throughput, simulated" in each["results"] for each in (before, after))
    assert after["spoken"] == "64"
    assert found["changed"] != after["results"], "another profile has other results"


def test_hostile_texts_are_shown_as_they_are(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written("logs/db2", server=HOSTILE)
    log.turn(5)
    for reason in (300 * "W", HOSTILE):
        log.say(reason)
    with served(tmp_path / "logs") as url:
        found = found_in(url, PHONE._replace(server="db2"), tmp_path / "profile")
    assert found["text"].count(HOSTILE) >= 3
    assert "<img" not in found["page"]
    assert found["title"].endswith("PoolPilot")
    assert (found["violations"], found["errors"]) == ([], [])
    assert (found["scrolls"], found["outside"]) == (False, [])


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_latency_has_a_line_and_a_name_for_each_class(
    written: Callable[..., WrittenLog], tmp_path: Path, view: View
) -> None:
    log = written(f"logs/{view.server}")
    tails_ms = {"short": 1.0, "long": 16.0, 60 * "W": 4.0, HOSTILE: 2.0}
    reading = Reading(goodput_per_s=9.0, throughput_per_s=9.0, seconds=5.0, latency_ms=2.0, tails_ms=tails_ms)
    log.turn(5, reading=reading)
    with served(tmp_path / "logs") as url:
        found = found_in(url, view, tmp_path / "profile")
    assert "Latency (95th percentile)" in found["figures"]
    assert [f'class="line class-{number}"' in found["page"] for number in range(5)] == [*(4 * [True]), False]
    assert "long 16 ms" in found["text"]
    assert (found["errors"], found["violations"], found["faint"]) == ([], [], [])
    assert (found["scrolls"], found["outside"]) == (False, [])


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_pictures(site: str, tmp_path: Path, view: View) -> None:
    folder = Path(os.environ.get("POOLPILOT_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    picture = (folder / f"page-{view.name}.png").absolute()
    browse(f"{site}#server={view.server}", view, tmp_path / "profile", f"--screenshot={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000, "there is hardly anything on it"
    picture = (folder / f"play-{view.name}.png").absolute()
    browse(f"{site}play.html", view, tmp_path / "profile", f"--screenshot={picture}")
    assert picture.stat().st_size > 20_000, "there is hardly anything on it"
