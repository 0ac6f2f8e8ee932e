"""One link says which model is in force; the ledger says why, and survives a torn line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.pipelines.production.conftest import files_of

from poolpilot.durability import durable_writes
from poolpilot.errors import ArtefactError, DamagedArtefactError, StoreError
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.learned_folder import CURVES_FILE
from poolpilot.pipelines.production.model_shelf import LEDGER, ModelShelf

Put = Callable[[str], str]


def digest_in_force(shelf: ModelShelf) -> str:
    in_force = shelf.in_force()
    assert in_force is not None
    return in_force.curves.digest


def test_nothing_is_in_force_before_the_first(shelf: ModelShelf) -> None:
    assert (shelf.in_force(), shelf.ledger(), shelf.barred()) == (None, [], frozenset())
    with pytest.raises(ArtefactError, match="there is no learned model before the one in force"):
        shelf.roll_back("worse")


def test_link_moves_and_what_was_started_with_it_follows(shelf: ModelShelf, put: Put) -> None:
    first = put("first")
    assert shelf.before(first) is None
    second = put("second")
    bandit = Model.load(shelf.current, "mariadb", to_try=True)
    assert bandit.curves is not None
    assert bandit.curves.digest == second == digest_in_force(shelf)
    assert shelf.before(second) == first
    assert not Path(shelf.current.readlink()).is_absolute(), "the folder may be copied elsewhere"


def test_roll_back_goes_to_the_one_before_and_bars_the_worse(shelf: ModelShelf, put: Put) -> None:
    first, second, third = put("first"), put("second"), put("third")
    assert shelf.roll_back("worse") == second == digest_in_force(shelf)
    assert shelf.roll_back("worse too") == first == digest_in_force(shelf)
    assert shelf.barred() == {second, third}
    assert [(line.action, line.digest) for line in shelf.ledger()] == [
        ("promoted", first),
        ("promoted", second),
        ("promoted", third),
        ("rolled back", second),
        ("rolled back", first),
    ]


def test_roll_back_passes_over_a_barred_model(shelf: ModelShelf, put: Put) -> None:
    first, second = put("first"), put("second")
    shelf.roll_back("worse")
    shelf.promote(second)  # by hand, against the bar
    third = put("third")
    assert shelf.before(third) == first
    assert shelf.roll_back("worse") == first


def test_one_that_is_in_force_is_not_promoted_again_and_one_may_come_back(shelf: ModelShelf, put: Put) -> None:
    first, second = put("first"), put("second")
    shelf.promote(second)
    assert [line.digest for line in shelf.ledger()] == [first, second]
    shelf.promote(first)
    assert (shelf.before(first), shelf.before(second)) == (second, first)
    assert shelf.roll_back("worse") == second
    with pytest.raises(ArtefactError, match="there is no learned model before"):
        shelf.roll_back("worse too")


def test_refused_model_changes_nothing_in_force(shelf: ModelShelf, put: Put) -> None:
    first = put("first")
    shelf.refuse("ab" * 32, ("loses",))
    assert digest_in_force(shelf) == first
    assert shelf.ledger()[-1].reasons == ("loses",)


def test_damaged_model_is_never_put_in_force(shelf: ModelShelf, put: Put) -> None:
    first, second = put("first"), put("second")
    (shelf.model(first).folder / CURVES_FILE).write_bytes(b"damaged")
    with pytest.raises(ArtefactError, match="there is no learned model before the one in force"):
        shelf.roll_back("worse")
    with pytest.raises(DamagedArtefactError):
        shelf.promote(first)
    assert digest_in_force(shelf) == second


def test_roll_back_passes_over_a_model_that_cannot_be_read(shelf: ModelShelf, put: Put) -> None:
    """Before, it ended with the damage of a model that nobody had asked for."""
    first, second, third = put("first"), put("second"), put("third")
    (shelf.model(second).folder / CURVES_FILE).write_bytes(b"damaged")
    assert shelf.before(third) == first
    assert shelf.roll_back("worse") == first == digest_in_force(shelf)


def test_another_takes_the_place_of_one_in_force_that_cannot_be_read(shelf: ModelShelf, put: Put) -> None:
    """Before, nothing could be promoted until somebody had mended the link by hand."""
    first, _ = put("first"), put("second")
    (shelf.current / CURVES_FILE).write_bytes(b"damaged")
    shelf.promote(first)
    assert digest_in_force(shelf) == first
    assert shelf.before(first) is None


def test_model_that_the_link_never_reached_was_never_in_force(
    shelf: ModelShelf, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, a roll-back went "back" to it: the ledger is written before the link moves."""

    def fail(_shelf: ModelShelf, _digest: str) -> None:
        raise ArtefactError("cannot move the link")

    base = put("base")
    with monkeypatch.context() as full:
        full.setattr(ModelShelf, "_point_to", fail)
        with pytest.raises(ArtefactError, match="cannot move the link"):
            put("never reached")
    assert digest_in_force(shelf) == base
    assert shelf.before(base) is None
    assert shelf.before(put("later")) == base


def test_torn_line_of_the_ledger_was_never_acted_on(shelf: ModelShelf, put: Put) -> None:
    first = put("first")
    with (shelf.folder / LEDGER).open("a") as ledger:
        ledger.write('{"action": "rolled b')
    assert [line.digest for line in shelf.ledger()] == [first]
    second = put("second")
    assert [line.digest for line in shelf.ledger()] == [first, second]


def test_ledger_that_is_none_is_a_sentence(shelf: ModelShelf) -> None:
    shelf.folder.mkdir()
    (shelf.folder / LEDGER).write_text("no line of ours\n", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot read the ledger"):
        shelf.ledger()


def test_link_that_has_moved_is_on_the_disk(shelf: ModelShelf, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    put("first")
    flushed: list[tuple[Path, Path]] = []
    monkeypatch.setattr(
        durable_writes, "flush_folder", lambda folder: flushed.append((folder, shelf.current.readlink()))
    )
    second = put("second")
    assert flushed[-1] == (shelf.folder, shelf.model(second).folder.relative_to(shelf.folder.resolve()))


def test_what_is_on_the_shelf_is_not_written_again(shelf: ModelShelf, put: Put) -> None:
    digest = put("first")
    before = {path: (path.stat().st_ino, path.read_bytes()) for path in shelf.current.iterdir()}
    shelf.put(digest, {**files_of("first"), "evaluation.json": b"{}"})
    assert {path: (path.stat().st_ino, path.read_bytes()) for path in shelf.current.iterdir()} == before


def test_disk_that_is_full_leaves_what_is_in_force_and_nothing_half(
    shelf: ModelShelf, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    first = put("first")
    with monkeypatch.context() as full:
        full.setattr("os.fsync", fail)
        with pytest.raises(ArtefactError, match="cannot write the learned model"):
            shelf.put("ab" * 32, files_of("second"))
    assert digest_in_force(shelf) == first
    with pytest.raises(ArtefactError):
        shelf.model("ab" * 32)


def test_what_is_damaged_on_the_shelf_is_replaced(shelf: ModelShelf, put: Put) -> None:
    digest = put("first")
    (shelf.current / CURVES_FILE).write_bytes(b"torn")
    shelf.put(digest, files_of("first"))
    assert digest_in_force(shelf) == digest
