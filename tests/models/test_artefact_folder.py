"""A folder is replaced all at once: death at any moment, a full disk or a reader meanwhile find the old or the new."""

import errno
import hashlib
import itertools
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from poolpilot.errors import ArtefactError, DamagedArtefactError
from poolpilot.models.artefact_folder import (
    CARD_FILE,
    GOLDEN_FILE,
    INCOMING,
    LISTED_FILES,
    MANIFEST_FILE,
    REPOSITORY_FILE,
    STAGED,
    WEIGHTS_FILE,
    holds_artefact,
    model_digest,
    read,
    write,
)

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # the child only writes files

FAILED, KILLED = 1, 9

Files = Mapping[str, bytes]

OLD: Files = {
    WEIGHTS_FILE: b"old weights" * 900,
    CARD_FILE: b"old card" * 500,
    REPOSITORY_FILE: b"old repository" * 700,
    GOLDEN_FILE: b"old answers" * 300,
}
NEW: Files = {WEIGHTS_FILE: b"new weights" * 800, CARD_FILE: b"new card" * 600}
NEXT: Files = {WEIGHTS_FILE: b"next weights", CARD_FILE: b"next card", REPOSITORY_FILE: b"next repository"}


@pytest.fixture(autouse=True)
def _no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loss of power is not tested, and hundreds of flushes take their time."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def write_in_child(folder: Path, files: Files, prepare: Callable[[], None]) -> int:
    """Writes an artefact in a child process; returns its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            prepare()
            write(folder, files)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_before(operation: int) -> None:
    """Has this process die before the nth operation on files from now on: an open, a change of names, a flush."""
    met = itertools.count()
    flush = os.fsync

    def meet(event: str, _: object = None) -> None:
        if (event == "open" or event.startswith(("os.", "shutil."))) and next(met) == operation:
            os._exit(KILLED)

    def watched_flush(fd: Any) -> None:
        meet("os.fsync")
        flush(fd)

    os.fsync = watched_flush
    sys.addaudithook(meet)


def deaths(write_before: Callable[[Path], object], files: Files, root: Path) -> Iterator[Path]:
    """Folders in which the writing of `files` died, before its first operation, its second, and so on to the last."""
    for operation in itertools.count():
        folder = root / f"death-{operation}"
        write_before(folder)
        code = write_in_child(folder, files, lambda at=operation: die_before(at))  # type: ignore[misc]
        assert code in (KILLED, 0)
        if code == 0:
            assert operation > 20
            return
        yield folder


def next_one_is_whole(folder: Path) -> bool:
    """Whether another artefact can be written now, and nothing is left of those before."""
    write(folder, NEXT)
    return read(folder) == NEXT and {path.name for path in folder.iterdir()} == {*NEXT, MANIFEST_FILE}


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (NEW, OLD)], ids=["repository goes", "repository comes"])
def test_death_before_any_operation_leaves_the_old_or_the_new(tmp_path: Path, before: Files, after: Files) -> None:
    arrived = []
    for folder in deaths(lambda folder: write(folder, before), after, tmp_path):
        left = read(folder)
        assert left in (before, after)
        arrived.append(left == after)
        assert next_one_is_whole(folder)
    assert arrived == sorted(arrived), "what was decided was undone"
    assert {True, False} == set(arrived)


def test_death_while_an_earlier_one_is_mended_loses_nothing(tmp_path: Path) -> None:
    def half_copied(folder: Path) -> bool:
        copied = {path.name for path in folder.iterdir()} - {INCOMING}
        return (folder / INCOMING).is_dir() and set() < copied < {*NEW, MANIFEST_FILE}

    broken = next(filter(half_copied, deaths(lambda folder: write(folder, OLD), NEW, tmp_path / "first")))
    seen = set()
    for folder in deaths(lambda folder: shutil.copytree(broken, folder), NEXT, tmp_path / "second"):
        seen.add(read(folder)[CARD_FILE])
        assert next_one_is_whole(folder)
    assert seen == {NEW[CARD_FILE], NEXT[CARD_FILE]}


def test_death_of_the_first_write_leaves_nothing_or_all(tmp_path: Path) -> None:
    for folder in deaths(lambda _: None, NEW, tmp_path):
        assert not holds_artefact(folder) or read(folder) == NEW
        assert next_one_is_whole(folder)


@pytest.mark.parametrize("size", [0, 1, 4096, len(NEW[WEIGHTS_FILE]) - 1])
def test_death_in_the_middle_of_a_file_leaves_the_old(tmp_path: Path, size: int) -> None:
    def allow_files_of_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # the kernel kills whoever writes more
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    folder = tmp_path / "artefact"
    write(folder, OLD)
    assert write_in_child(folder, NEW, allow_files_of_size) == -signal.SIGXFSZ
    assert (folder / STAGED / WEIGHTS_FILE).stat().st_size == size
    assert read(folder) == OLD
    assert next_one_is_whole(folder)


def refuse_from(operation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the disk refuse the nth flush and all that follow."""
    flushed = itertools.count()

    def full(_: int) -> None:
        if next(flushed) >= operation:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)


@pytest.mark.parametrize(
    ("operation", "left", "sentence"),
    [
        (0, OLD, "cannot write the model to .*: No space left.*what was there is in force"),
        (4, NEW, "the new model is in force"),
    ],
    ids=["before the decision", "after it"],
)
def test_refusing_disk_is_told_with_what_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: int, left: Files, sentence: str
) -> None:
    write(tmp_path, OLD)
    with monkeypatch.context() as patch:
        refuse_from(operation, patch)
        with pytest.raises(ArtefactError, match=sentence):
            write(tmp_path, NEW)
    assert read(tmp_path) == left
    assert not (tmp_path / STAGED).exists()
    assert next_one_is_whole(tmp_path)


def test_reader_who_is_overtaken_gets_the_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, OLD)
    plain = Path.read_bytes
    replacements = iter([NEW, NEXT])

    def read_then_replace(path: Path) -> bytes:
        content = plain(path)
        if path == tmp_path / MANIFEST_FILE and (files := next(replacements, None)):
            write(tmp_path, files)
        return content

    monkeypatch.setattr(Path, "read_bytes", read_then_replace)
    assert read(tmp_path) == NEXT


def test_files_of_others_stay_and_links_are_not_written_through(tmp_path: Path) -> None:
    folder, others = tmp_path / "artefact", tmp_path / "others.json"
    write(folder, OLD)
    (folder / "README").write_text("mine")
    others.write_bytes(b"theirs")
    (folder / CARD_FILE).unlink()
    (folder / CARD_FILE).symlink_to(others)
    write(folder, NEW)
    assert read(folder) == NEW
    assert (others.read_bytes(), (folder / "README").read_text()) == (b"theirs", "mine")


def test_file_that_is_not_listed_is_no_part_of_it(tmp_path: Path) -> None:
    write(tmp_path, NEW)
    (tmp_path / REPOSITORY_FILE).write_bytes(OLD[REPOSITORY_FILE])
    assert read(tmp_path) == NEW


def test_digest_is_that_of_the_model_whatever_is_beside_it(tmp_path: Path) -> None:
    write(tmp_path, NEW)
    digest = hashlib.sha256((tmp_path / MANIFEST_FILE).read_bytes()).hexdigest()
    for beside in (REPOSITORY_FILE, GOLDEN_FILE):
        assert model_digest(NEW) == model_digest({**NEW, beside: b"beside the model"}) == digest
    assert model_digest({**NEW, CARD_FILE: b"another card"}) != digest


@pytest.mark.parametrize("name", [*LISTED_FILES, MANIFEST_FILE])
def test_missing_file_is_named_with_the_remedy(tmp_path: Path, name: str) -> None:
    write(tmp_path, OLD)
    (tmp_path / name).unlink()
    with pytest.raises(DamagedArtefactError, match=rf"{name} \(No such file or directory\).*poolpilot learn train"):
        read(tmp_path)


@pytest.mark.parametrize("name", [*LISTED_FILES, MANIFEST_FILE])
def test_every_flipped_bit_and_every_cut_is_noticed_and_named(tmp_path: Path, name: str) -> None:
    short = {name: content[:40] for name, content in OLD.items()}
    write(tmp_path, short)
    path = tmp_path / name
    content = path.read_bytes()
    flips = (
        content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]
        for at in range(len(content))
        for bit in range(8)
    )
    for damaged in itertools.chain(flips, (content[:at] for at in range(len(content)))):
        path.write_bytes(damaged)
        with pytest.raises(DamagedArtefactError, match=r"model\.safetensors|model\.json|memory\.json|manifest\.json"):
            read(tmp_path)
    path.write_bytes(content)
    assert read(tmp_path) == short


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[]",
        "{}",
        '{"sha256": 3}',
        '{"sha256": {}}',
        '{"sha256": ["model.safetensors", "model.json"]}',
        "{nonsense",
        "[" * 100_000,
        json.dumps({"sha256": {**dict.fromkeys(LISTED_FILES, "00"), "more.json": "00"}}),
    ],
)
def test_manifest_that_says_nothing_is_refused(tmp_path: Path, manifest: str) -> None:
    write(tmp_path, OLD)
    (tmp_path / MANIFEST_FILE).write_text(manifest)
    with pytest.raises(DamagedArtefactError, match=MANIFEST_FILE):
        read(tmp_path)


def test_only_an_empty_folder_or_none_holds_no_artefact(tmp_path: Path) -> None:
    assert not holds_artefact(tmp_path)
    assert not holds_artefact(tmp_path / "nowhere")
    for name in (*LISTED_FILES, MANIFEST_FILE):
        folder = tmp_path / f"only {name}"
        folder.mkdir()
        (folder / name).write_bytes(b"")
        assert holds_artefact(folder)
