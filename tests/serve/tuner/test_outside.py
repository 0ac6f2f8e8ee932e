"""Files by which people speak to the tuner."""

from pathlib import Path

import pytest

from poolpilot.errors import StoreError
from poolpilot.serve.tuner.outside import Approval, Outside


def test_nobody_speaks_where_no_file_is_named() -> None:
    outside = Outside()
    assert not outside.killed()
    assert outside.approved() == Approval()
    assert outside.hindrances() == ()


def test_kill_switch_is_thrown_while_its_file_is_there(tmp_path: Path) -> None:
    outside = Outside(kill_file=tmp_path / "stop")
    assert not outside.killed()
    (tmp_path / "stop").touch()
    assert outside.killed()
    (tmp_path / "stop").unlink()
    assert not outside.killed()


def test_link_that_leads_nowhere_is_a_thrown_switch(tmp_path: Path) -> None:
    (tmp_path / "stop").symlink_to(tmp_path / "gone")
    assert Outside(kill_file=tmp_path / "stop").killed()


def test_switch_that_cannot_be_looked_at_counts_as_thrown(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert Outside(kill_file=tmp_path / "file" / "stop").killed()


@pytest.mark.parametrize(("content", "approved"), [(b"(4, 3, 250)\n", "(4, 3, 250)"), (b"x" * 10_000, "x" * 256)])
def test_approval_is_what_the_file_holds(tmp_path: Path, content: bytes, approved: str) -> None:
    file = tmp_path / "approved"
    assert Outside(approval_file=file).approved() == Approval()
    file.write_bytes(content)
    assert Outside(approval_file=file).approved() == Approval(approved)


def test_approval_that_cannot_be_read_is_none_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "approved"
    file.write_bytes(b"\xff\xfe")
    assert Outside(approval_file=file).approved() == Approval(fault="it is no text in UTF-8")
    assert Outside(approval_file=file / "approved").approved() == Approval(fault="Not a directory")
    file.unlink()
    file.mkdir()
    assert Outside(approval_file=file).approved() == Approval(fault="Is a directory")


def test_approval_is_used_up_and_what_it_was_stays_to_be_seen(tmp_path: Path) -> None:
    file = tmp_path / "approved"
    outside = Outside(approval_file=file)
    for text in ("(4, 3, 250)", "(8, 3, 250)"):
        file.write_text(text)
        outside.use_up()
        assert outside.approved() == Approval()
        assert (tmp_path / "approved.used").read_text() == text
    outside.use_up()
    Outside().use_up()


def test_approval_that_cannot_be_used_up_is_named(tmp_path: Path) -> None:
    file = tmp_path / "approved"
    file.write_text("(4, 3, 250)")
    (tmp_path / "approved.used").mkdir()
    with pytest.raises(StoreError, match=r"approved is used up and cannot be taken away \(Is a directory\)"):
        Outside(approval_file=file).use_up()
