"""A tuner that asks a service: the real one, and one that is broken in every way."""

import gc
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.serve.raw_server import Raw, good_answer, http_answer
from tests.tls_identity import make_identity

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import PoolPilotError, RemoteError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.body import MOST_FORBIDDEN, from_body
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.remote.remote_predictor import RemotePredictor
from poolpilot.serve.remote.service_link import ServiceLink, Trust

Serving = Callable[..., Any]
TOKEN = "t" * 43
LIMITS = KnobSpace.stock(cpus=2)


@pytest.fixture
def window(request_values: dict[str, Any]) -> Window:
    return from_body(request_values).windows[0]


def asked(url: str, window: Window, trust: Trust | None = None, digest: str | None = None, **link: Any) -> Any:
    predictor = RemotePredictor(ServiceLink(url, trust, **link), digest)
    return predictor.predict([window], LIMITS, Objective())


def test_answer_of_the_service_is_that_of_its_predictor(serving: Serving, predictor: Any, window: Window) -> None:
    service = serving(predictor)
    found = asked(service.url, window)
    assert found.pool_tuple == window.pool_tuple.with_core((16, 3, 10))
    assert (found.in_force, found.abstained) == (window.pool_tuple, False)
    assert (found.expected_gain, found.model_digest) == (predictor.gain, "ab" * 32)
    assert predictor.asked[0][0] == (window,)


def test_who_measures_asks_for_trials(serving: Serving, window: Window) -> None:
    link = ServiceLink(serving(Advisor.load()).url, deadline_s=20.0)
    for trials in (False, True):
        found = RemotePredictor(link, trials=trials).predict([window], LIMITS, Objective())
        assert (found.improvement is not None) is trials
    assert found.model_digest == load_curves().digest


def test_what_is_not_permitted_is_told_to_the_service_until_it_names_something_else(
    serving: Serving, window: Window
) -> None:
    link = _Counted(serving(Advisor.load()).url, deadline_s=20.0)
    plain = RemotePredictor(link, trials=True).predict([window], LIMITS, Objective())
    other_sizes = replace(LIMITS, permits=lambda one: one.pool_size != plain.pool_tuple.pool_size)
    predictor = RemotePredictor(link, trials=True)
    for _ in range(3):
        found = predictor.predict([window], other_sizes, Objective())
    assert not found.keeps
    assert found.pool_tuple.pool_size != plain.pool_tuple.pool_size
    link.paths.clear()
    assert predictor.predict([window], other_sizes, Objective()) == found
    assert len(link.paths) == 1, "what was named in vain is told beforehand"
    assert predictor.predict([window], LIMITS, Objective()) == plain, "what is permitted again may be named again"


def test_service_of_before_that_does_not_listen_is_asked_once_more_and_believed(
    serving: Serving, predictor: Any, window: Window
) -> None:
    asking = RemotePredictor(ServiceLink(serving(predictor).url), trials=True)
    found = asking.predict([window], replace(LIMITS, permits=lambda _: False), Objective())
    assert found.pool_tuple.core == (16, 3, 10)
    assert len(predictor.asked) == 2


class _Scripted(ServiceLink):
    """A link to a service that names one size after the other, and then fails."""

    def __init__(self, window: Window, sizes: Sequence[int]) -> None:
        super().__init__("http://127.0.0.1:1")
        self._answer, self._sizes, self.paths = good_answer(window), list(sizes), list[str]()

    def post(self, path: str, body: object) -> Any:  # noqa: ARG002
        self.paths.append(path)
        if not self._sizes:
            raise RemoteError("it is gone")
        return {**self._answer, "pool_tuple": {**self._answer["pool_tuple"], "pool_size": self._sizes.pop(0)}}


NOTHING_PERMITTED = replace(LIMITS, permits=lambda _: False)


def forbidden_in(path: str) -> list[str]:
    return parse_qs(urlsplit(path).query).get("forbidden", [])


def test_answer_is_not_lost_where_the_service_fails_when_asked_again(window: Window) -> None:
    link = _Scripted(window, [16, 32])
    found = RemotePredictor(link).predict([window], NOTHING_PERMITTED, Objective())
    assert found.pool_tuple.pool_size == 32
    assert [len(forbidden_in(path)) for path in link.paths] == [0, 1, 2]


def test_first_question_that_fails_is_told(window: Window) -> None:
    with pytest.raises(RemoteError, match="it is gone"):
        RemotePredictor(_Scripted(window, [])).predict([window], NOTHING_PERMITTED, Objective())


def test_service_is_asked_again_three_times_at_most(window: Window) -> None:
    link = _Scripted(window, range(20, 30))
    found = RemotePredictor(link).predict([window], NOTHING_PERMITTED, Objective())
    assert (len(link.paths), found.pool_tuple.pool_size) == (4, 23)


def test_no_more_is_told_beforehand_than_a_question_may_carry_and_the_latest_are(window: Window) -> None:
    link = _Scripted(window, range(20, 120))
    predictor = RemotePredictor(link)
    for _ in range(25):
        predictor.predict([window], NOTHING_PERMITTED, Objective())
    told = forbidden_in(link.paths[-1])
    _, oversubscribe, stall_limit = window.pool_tuple.core
    assert told == [f"{size},{oversubscribe},{stall_limit}" for size in range(119 - MOST_FORBIDDEN, 119)]


class _Counted(ServiceLink):
    """A link that keeps what was asked."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.paths: list[str] = []

    def post(self, path: str, body: object) -> Any:
        self.paths.append(path)
        return super().post(path, body)


def test_many_windows_are_cut_to_what_a_request_may_carry(serving: Serving, predictor: Any, window: Window) -> None:
    link = RemotePredictor(ServiceLink(serving(predictor).url))
    link.predict([window] * 40, LIMITS, Objective())
    assert len(predictor.asked[0][0]) == 16


def test_token_is_sent_and_read_again(serving: Serving, predictor: Any, window: Window, tmp_path: Path) -> None:
    tokens, mine = tmp_path / "tokens", tmp_path / "mine"
    for path, text in ((tokens, f"predict,outcomes {TOKEN}\n"), (mine, f"{TOKEN}\n")):
        path.touch(mode=0o600)
        path.write_text(text)
    service = serving(predictor, token_file=tokens)
    assert not asked(service.url, window, Trust(token_file=mine)).abstained
    with pytest.raises(RemoteError, match="refuses with 401"):
        asked(service.url, window)
    link = ServiceLink(service.url, Trust(token_file=mine))
    mine.write_text("x" * 43)
    with pytest.raises(RemoteError, match="refuses with 401"):
        RemotePredictor(link).predict([window], LIMITS, Objective())


def test_authority_is_read_again(serving: Serving, predictor: Any, window: Window, tmp_path: Path) -> None:
    """Before, a tuner had to be started again once the authority or its own certificate was replaced."""
    identity, other = make_identity(tmp_path, "service"), make_identity(tmp_path, "other")
    service = serving(predictor, tls_certificate=identity.certificate, tls_key=identity.key)
    trusted = tmp_path / "ca.pem"
    trusted.write_bytes(other.certificate.read_bytes())
    link = ServiceLink(service.url, Trust(authority=trusted))
    with pytest.raises(RemoteError, match="certificate is not trusted"):
        RemotePredictor(link).predict([window], LIMITS, Objective())
    trusted.write_bytes(identity.certificate.read_bytes())
    assert not RemotePredictor(link).predict([window], LIMITS, Objective()).abstained


def test_failure_of_the_service_is_told(serving: Serving, predictor: Any, window: Window) -> None:
    predictor.error = RuntimeError("broken inside")
    with pytest.raises(RemoteError, match="refuses with 503: unavailable: keep what is") as caught:
        asked(serving(predictor).url, window)
    assert "broken inside" not in str(caught.value)


def test_nobody_there_is_told(window: Window) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RemoteError, match="could not be asked: Connection refused"):
        asked(f"http://127.0.0.1:{port}", window)


@pytest.mark.parametrize("closing", [b"", b"Connection: close\r\n"])
@pytest.mark.parametrize(("drip_s", "at_once"), [(60.0, 0), (0.2, 0), (0.2, 100)])
def test_deadline_holds_for_silence_and_for_an_answer_in_drips(
    raw: Raw, window: Window, drip_s: float, at_once: int, closing: bytes
) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + closing + b"Content-Length: 1000\r\n\r\n"
    server = raw(head + b"x" * 1000, drip_s, at_once)
    began_s = time.monotonic()
    with pytest.raises(RemoteError, match=r"did not answer within 0.5 s"):
        asked(server.url, window, deadline_s=0.5)
    assert time.monotonic() - began_s < 20.0
    assert _service_links() == [], "an exchange goes on after its deadline"


def _service_links() -> list[threading.Thread]:
    """Threads of exchanges that are still alive some seconds later."""
    found = [thread for thread in threading.enumerate() if thread.name == "service-link"]
    for thread in found:
        thread.join(10.0)
    return [thread for thread in found if thread.is_alive()]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "could not be asked"),
        (b"\x00\xff" * 100, "could not be asked"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "could not be asked"),
        (http_answer(b"<html>", kind="text/html"), "answers with 'text/html', which is not application/json"),
        (http_answer(b"not json"), "answers garbage"),
        (http_answer(b"[" * 100_000), "answers garbage"),
        (http_answer(b'{"expected_gain": NaN}'), "answers garbage"),
        (http_answer(b"[]"), "answers garbage"),
        (http_answer(b"{}"), "answers garbage: "),
        (http_answer(b" " * (1 << 21)), "exceeds 1048576 bytes"),
        (http_answer(b'{"detail": "no\\u001b[31m"}', "404 Not Found"), "refuses with 404: no "),
        (http_answer(b"Internal", "500 Internal Server Error"), "refuses with 500: no reason is given"),
        (http_answer(b"", "302 Found\r\nLocation: http://127.0.0.1:1/"), "refuses with 302"),
    ],
)
def test_whatever_is_no_answer_is_one_sentence(raw: Raw, window: Window, answer: bytes, said: str) -> None:
    with pytest.raises(RemoteError) as caught:
        asked(raw(answer).url, window)
    assert said in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500
    gc.collect()  # a socket that was left open is told now, and fails the test


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_digest": "latest"}, "names no digest of a model"),
        ({"model_digest": "cd" * 32}, "answers by the model cdcdcdcdcdcd, not by abab"),
        ({"schema_version": 999}, "speaks schema 999"),
        ({"pool_tuple": {"pool_size": 100_000, "oversubscribe": 3, "timer_interval_ms": 10}}, "cannot be: pool_size"),
        ({"pool_tuple": {"pool_size": "16", "oversubscribe": 3, "timer_interval_ms": 10}}, "pool_tuple.pool_size"),
        ({"pool_tuple": None}, "answers garbage: pool_tuple"),
        ({"in_force": {"pool_size": 99, "oversubscribe": 3, "timer_interval_ms": 10}}, "answers about (99, 3, 10)"),
        ({"expected_gain": 1e300}, "expected_gain"),
        ({"improvement": 1.5}, "improvement"),
        ({"expected_gain": "much"}, "expected_gain"),
        ({"abstained": "no"}, "abstained"),
        ({"reasons": "none"}, "reasons"),
    ],
)
def test_answer_that_cannot_be_trusted_is_refused(raw: Raw, window: Window, changes: dict[str, Any], said: str) -> None:
    body = json.dumps({**good_answer(window), **changes}).encode()
    with pytest.raises(RemoteError) as caught:
        asked(raw(http_answer(body)).url, window, digest="ab" * 32)
    assert said in str(caught.value)


@pytest.mark.parametrize("told", [{}, {"improvement": None}, {"improvement": 0.1}])
def test_answer_that_fits_is_taken(raw: Raw, window: Window, told: dict[str, Any]) -> None:
    """Also of a service that does not tell what a trial is expected to take off."""
    body = json.dumps({**good_answer(window), **told}).encode()
    found = asked(raw(http_answer(body)).url, window, digest="abab")
    assert found.pool_tuple == window.pool_tuple.with_core((16, *window.pool_tuple.core[1:]))
    assert found.improvement == told.get("improvement")


@pytest.mark.parametrize(
    ("days", "name", "trusted", "said"),
    [
        (9, "127.0.0.1", True, None),
        (-1, "127.0.0.1", True, "its certificate is not trusted (certificate has expired)"),
        (9, "127.0.0.2", True, "its certificate is not trusted (IP address mismatch"),
        (9, "127.0.0.1", False, "its certificate is not trusted (self"),
    ],
)
def test_certificate_is_checked(
    serving: Serving,
    predictor: Any,
    window: Window,
    tmp_path: Path,
    days: int,
    name: str,
    trusted: bool,
    said: str | None,
) -> None:
    certificate, key = make_identity(tmp_path, "service", days=days, address=name)
    service = serving(predictor, tls_certificate=certificate, tls_key=key)
    trust = Trust(authority=certificate if trusted else None)
    if said is None:
        assert not asked(service.url, window, trust).abstained
        return
    with pytest.raises(RemoteError) as caught:
        asked(service.url, window, trust)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://example.org:8750", "leaves this host without TLS"),
        ("ftp://127.0.0.1", "is no address of a service"),
        ("https://user:secret@host", "is no address of a service"),
        ("https://host/path", "is no address of a service"),
        ("https://host:port", "is no address of a service"),
        ("8750", "is no address of a service"),
    ],
)
def test_address_that_is_of_no_use_is_refused(url: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        ServiceLink(url)


def test_token_that_others_may_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o644)
    with pytest.raises(SettingError, match="must have 0600"):
        ServiceLink("http://127.0.0.1:8750", Trust(token_file=tmp_path / "token"))
    (tmp_path / "token").write_text("\n")
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(SettingError, match="holds no token in its first line"):
        ServiceLink("http://127.0.0.1:8750", Trust(token_file=tmp_path / "token"))


def test_authority_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"no TLS by .*gone.pem"):
        ServiceLink("https://127.0.0.1:8750", Trust(authority=tmp_path / "gone.pem"))


def test_every_error_is_one_that_the_tuner_abstains_by() -> None:
    assert issubclass(RemoteError, PoolPilotError)
    with pytest.raises(SettingError, match="needs at least one window"):
        RemotePredictor(ServiceLink("http://127.0.0.1:1")).predict([], LIMITS, Objective())
    assert PoolTuple(1, 3, 500).core == (1, 3, 500)
