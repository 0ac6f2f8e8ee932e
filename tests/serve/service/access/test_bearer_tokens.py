"""The file of tokens: what it may hold, who may read it, and whom it lets in."""

import base64
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from poolpilot.errors import SettingError
from poolpilot.serve.service.access.bearer_tokens import BearerTokens

OLD, NEW, ALL = "old-" + "a" * 40, "new-" + "b" * 40, "all-" + "c" * 40 + "=="

WriteTokens = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> WriteTokens:
    """Writes a file of tokens of the right mode."""

    def write(text: str) -> Path:
        path = tmp_path / "tokens"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return path

    return write


def allowed(tokens: BearerTokens, token: str) -> set[str]:
    found = tokens.scopes_of(token)
    assert found is not None
    return set(found[1])


def test_tokens_allow_what_their_lines_say(written: WriteTokens) -> None:
    text = f"# given out in spring\npredict {OLD}\n\n  predict {NEW}\npredict,outcomes,admin {ALL}\n"
    tokens = BearerTokens(written(text))
    assert allowed(tokens, OLD) == allowed(tokens, NEW) == {"predict"}
    assert allowed(tokens, ALL) == {"predict", "outcomes", "admin"}
    assert tokens.scopes_of(OLD)[0] != tokens.scopes_of(NEW)[0]  # type: ignore[index]  # asserted above


def test_256_bits_are_enough_however_they_are_written(written: WriteTokens) -> None:
    drawn = os.urandom(32)
    tokens = [base64.urlsafe_b64encode(drawn).decode().rstrip("="), base64.b64encode(drawn).decode(), drawn.hex()]
    known = BearerTokens(written("".join(f"predict {token}\n" for token in tokens)))
    assert [allowed(known, token) for token in tokens] == [{"predict"}] * 3


@pytest.mark.parametrize("token", ["", OLD[:-1], OLD + "a", OLD.upper(), " " + OLD, "\udcff"])
def test_nothing_else_is_a_token(written: WriteTokens, token: str) -> None:
    assert BearerTokens(written(f"predict {OLD}\n")).scopes_of(token) is None


def test_tokens_are_not_kept(written: WriteTokens) -> None:
    tokens = BearerTokens(written(f"predict {OLD}\n"))
    assert OLD not in repr(vars(tokens))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o700])
def test_file_that_others_may_read_is_refused_with_the_remedy(written: WriteTokens, mode: int) -> None:
    path = written(f"predict {OLD}\n")
    path.chmod(mode)
    with pytest.raises(SettingError, match=rf"has mode {mode:04o}, must have 0600: chmod 600 .*tokens"):
        BearerTokens(path)


def test_file_of_an_owner_who_may_only_read_it_is_taken(written: WriteTokens) -> None:
    path = written(f"predict {OLD}\n")
    path.chmod(0o400)
    assert allowed(BearerTokens(path), OLD) == {"predict"}


def access_list(*named: tuple[int, int, int]) -> bytes:
    """An access list as the kernel stores it: the owner, the mask, and others by kind, rights and identifier."""
    nobody = 0xFFFFFFFF
    owner, group, mask, other = (0x01, 6, nobody), (0x04, 0, nobody), (0x10, 4, nobody), (0x20, 0, nobody)
    entries = sorted([owner, group, mask, other, *named])
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def test_who_is_let_in_by_an_access_list_alone_may_read(written: WriteTokens) -> None:
    path = written(f"predict {OLD}\n")
    me, somebody = os.geteuid(), os.geteuid() + 1
    try:
        os.setxattr(path, "system.posix_acl_access", access_list((0x02, 4, me)))
    except OSError as error:
        pytest.skip(f"this file system has no access lists: {error.strerror}")
    assert path.stat().st_mode & 0o777 == 0o640, "the bits of the group are the mask"
    assert allowed(BearerTokens(path), OLD) == {"predict"}
    for others in ([(0x02, 4, me), (0x02, 4, somebody)], [(0x02, 4, me), (0x08, 4, 0)], [(0x02, 4, somebody)]):
        os.setxattr(path, "system.posix_acl_access", access_list(*others))
        with pytest.raises(SettingError, match="has mode 0640, must have 0600"):
            BearerTokens(path)


BAD_FILES = {
    "empty": ("", "holds no token"),
    "only a comment": ("# predict\n", "holds no token"),
    "token alone": (f"{OLD}\n", "line 1 of .* is not 'scope"),
    "three words": (f"predict {OLD} {NEW}\n", "line 1 of .* is not 'scope"),
    "unknown scope": (f"predict {OLD}\nroot {NEW}\n", "line 2 of .* unknown scope"),
    "scope twice": (f"predict,predict {OLD}\n", "line 1 of .* unknown scope or one twice"),
    "empty scope": (f"predict, {OLD}\n", "line 1 of .* unknown scope"),
    "short token": ("predict too-short\n", "line 1 of .* holds no token of 43 to 512.* `openssl rand -base64 48`"),
    "token of less than 256 bits": (f"predict {OLD[:42]}=\n", "line 1 of .* holds no token of 43 to 512"),
    "token of other letters": (f"predict {OLD}!\n", "line 1 of .* holds no token of 43 to 512"),
    "token twice": (f"predict {OLD}\noutcomes {OLD}\n", "line 2 of .* for the second time"),
    "not ASCII": (f"predict {OLD}\u00e4\n", "not ASCII"),
    "too long": ("#" * 70_000, "exceeds 65536 bytes"),
}


@pytest.mark.parametrize(("text", "reason"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_file_is_refused_in_a_sentence_without_a_token(written: WriteTokens, text: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason) as refused:
        BearerTokens(written(text))
    assert OLD not in str(refused.value)
    assert "too-short" not in str(refused.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="No such file"):
        BearerTokens(tmp_path / "nowhere")
    with pytest.raises(SettingError, match=r"cannot read|no regular file"):
        BearerTokens(tmp_path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(SettingError, match="no regular file"):
        BearerTokens(tmp_path / "pipe")


def test_file_is_read_again_and_stays_in_force_where_it_is_bad(written: WriteTokens) -> None:
    tokens = BearerTokens(written(f"predict {OLD}\n"))
    written(f"predict {NEW}\n")
    tokens.renew()
    assert tokens.scopes_of(OLD) is None
    written("")
    with pytest.raises(SettingError, match="holds no token"):
        tokens.renew()
    assert tokens.scopes_of(NEW) is not None
