"""Files that were cut, emptied, exchanged or had a bit flipped: a resume names them, mends what is
safe, and never passes over them.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dory import check
from dory.errors import DoryError, VersionError
from dory.identity.repair import repair, strange_links
from dory.turn.inbox import Inbox
from tests.support.household import Household, bodies
from tests.support.versioned import Versioned, edit, meanwhile


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip_a_bit(content: bytes) -> bytes:
    at = len(content) * 2 // 3
    return content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :]


def empty(content: bytes) -> bytes:
    return b""


def exchange(content: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


DAMAGES = [cut, flip_a_bit, empty, exchange]


@pytest.fixture
def house(tmp_path: Path) -> Household:
    """A life of some turns, ended in the middle of a response."""
    house = Household(tmp_path)
    house.hear("dev", "ada", "hello there")
    Inbox(house.me, [], print).receive()
    house.respond(
        "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\n"
        "Ada likes tea, and Ben does not.\n>>>>>>> REPLACE"
    )
    house.fade(house.me.context.entries[:3], "how it began")
    house.respond("SAY dev hello Ada")
    return house


def wake(house: Household) -> list[str]:
    """Resume as agent.py does, up to the first turn; what people are told. Raises what a resume
    raises.
    """
    told: list[str] = []
    me = house.restart()
    me.begin()
    told += strange_links(me)
    Inbox(me, [], told.append).receive()
    return [*told, *repair(me)]


def damaged(path: Path, damage: Callable[[bytes], bytes]) -> bytes:
    before = path.read_bytes()
    path.write_bytes(damage(before))
    assert path.read_bytes() != before
    return before


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["state.json", "context.md"])
def test_a_record_that_cannot_be_guessed_is_refused_by_name_and_left_as_it_is(
    house: Household, name: str, damage: Callable[[bytes], bytes]
) -> None:
    path = house.me.folder / name
    damaged(path, damage)
    found = path.read_bytes()
    with pytest.raises(DoryError, match=name.replace(".", r"\.")):
        wake(house)
    assert path.read_bytes() == found
    assert any(name in problem for problem in check.problems(house.home))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_soul_is_refused_by_name(
    house: Household, damage: Callable[[bytes], bytes]
) -> None:
    damaged(house.me.blobs.path(house.hash), damage)
    with pytest.raises(DoryError, match=house.hash):
        wake(house)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_log_is_told_or_refused_by_name(
    house: Household, damage: Callable[[bytes], bytes]
) -> None:
    damaged(house.me.folder / "LIFE.md", damage)
    assert any("LIFE.md" in problem for problem in check.problems(house.home))
    try:
        told = wake(house)
    except DoryError as error:
        told = [str(error)]
    assert any("LIFE.md" in line for line in told)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_original_is_named_when_it_is_opened(
    house: Household, damage: Callable[[bytes], bytes]
) -> None:
    hash = house.me.context.entries[0].hash
    assert hash
    damaged(house.me.blobs.path(hash), damage)
    wake(house)
    assert f"blob {hash} is damaged" in house.result(f"UNCOMPACT {hash}").body
    assert any(hash in problem for problem in check.problems(house.home))


@pytest.mark.parametrize("name", ["USER.md", "MEMORY.md", "VOICE.md", "SEGMENT.md"])
def test_a_text_that_is_no_text_any_more_is_kept_beside_a_readable_one(
    house: Household, name: str
) -> None:
    (house.me.folder / name).write_text("Ada likes tea")
    house.me.commit()
    damaged(house.me.folder / name, lambda content: content + b"\xff and more")
    assert any(name in problem for problem in check.problems(house.home))
    told = wake(house)
    assert told == [
        f"{name} held bytes that are no text: they are shown as � now, and the file as it was is"
        f" {name}.damaged"
    ]
    assert (house.me.folder / name).read_text() == "Ada likes tea� and more"
    assert (house.me.folder / f"{name}.damaged").read_bytes() == b"Ada likes tea\xff and more\n"
    assert wake(house) == []


def test_a_nul_is_no_text_and_the_file_can_be_read_and_compared_again(tmp_path: Path) -> None:
    house = Versioned(tmp_path)
    house.write("USER.md", "Ada\0likes tea\n")
    house.extensions.step()
    (told,) = repair(house.me)
    assert told.startswith("USER.md held bytes that are no text")
    assert house.read("USER.md") == "Ada�likes tea\n"
    assert (house.me.folder / "USER.md.damaged").read_bytes() == b"Ada\0likes tea\n\n"
    house.respond("SAY dev hi")
    assert house.log()[:2] == [
        ("Dory", "USER.md: Ada�likes tea (was: Ada\\x00likes tea)"),
        ("a person", "USER.md: + Ada\\x00likes tea"),
    ]
    command = ["git", "-C", str(house.me.folder), "log", "-p"]
    shown = subprocess.run(command, capture_output=True).stdout
    assert b"Binary files" not in shown and b"Ada\0likes tea" in shown
    refused = house.result(edit("USER.md", "", "Bob\0is tall")).body
    assert "holds a NUL" in refused and house.read("USER.md") == "Ada�likes tea\n"


def test_a_memory_that_is_gone_begins_empty_and_the_agent_is_told(house: Household) -> None:
    (house.me.folder / "MEMORY.md").unlink()
    assert wake(house) == ["MEMORY.md was gone: it begins empty"]
    assert house.me.memory == ""
    assert (
        not (house.me.folder / "USER.md").exists() and not (house.me.folder / "VOICE.md").exists()
    ), "these begin when there is something in them"


def test_what_is_repaired_is_a_version_of_the_house_behind_the_persons(tmp_path: Path) -> None:
    house = Versioned(tmp_path)
    user, memory = (house.me.folder / name for name in ("USER.md", "MEMORY.md"))
    for damage in (
        lambda: user.write_bytes(b"caf\xe9\n"),
        memory.unlink,
        lambda: user.write_bytes(b""),
    ):
        damage()
        house.extensions.step()
        list(repair(house.me))
        house.respond("SAY dev hi")
    assert [author for author, _ in house.log()] == [
        "a person",
        "Dory",
        "a person",
        "Dory",
        "a person",
    ]
    assert house.log()[1:4:2] == [
        ("Dory", "MEMORY.md: begun, empty"),
        ("Dory", r"USER.md: caf� (was: caf\xe9)"),
    ]


def test_what_a_person_saves_while_a_file_is_repaired_stays(house: Household) -> None:
    user = house.me.folder / "USER.md"
    user.write_bytes(b"caf\xe9\n")
    with (
        meanwhile("replace", 1, lambda: user.write_text("café au lait\n")),
        pytest.raises(VersionError, match="just saved USER"),
    ):
        list(repair(house.me))
    assert user.read_text() == "café au lait\n" and list(repair(house.me)) == []


@pytest.mark.parametrize("damage", [cut, empty])
def test_a_room_that_became_shorter_is_told(
    house: Household, damage: Callable[[bytes], bytes]
) -> None:
    damaged(house.me.rooms.path("dev"), damage)
    assert any("chats/dev.md was edited or exchanged" in line for line in wake(house))
    assert any(
        "The file of the room dev was edited or exchanged" in body
        for body in bodies(house.me.context.entries, "notice")
    )


def test_a_room_that_was_exchanged_is_told_line_by_line(house: Household) -> None:
    damaged(house.me.rooms.path("dev"), exchange)
    assert any("a line without a tag was not heard" in line for line in wake(house))


def test_a_room_of_an_unknown_version_is_left_unheard_and_the_others_go_on(
    house: Household,
) -> None:
    house.respond("JOIN lab\nJOIN hall")
    house.me.rooms.path("lab").write_text(
        "[dory-room 7]\n[USER:ada 2030-01-01T00:00:00Z] from the future\n" + "x" * 500
    )
    del house.me.state.rooms["lab"]
    house.me.commit()
    house.hear("hall", "ada", "from the present")
    told = wake(house)
    assert told == [
        "chats/lab.md is of version '[dory-room 7]', this Dory reads '[dory-room 1]': update Dory,"
        " or move the file away"
    ]
    heard = bodies(house.me.context.entries, "heard")
    assert len([body for body in heard if "from the present" in body]) == 1 and not [
        body for body in heard if "future" in body
    ]


def test_lines_that_somebody_else_wrote_into_life_are_set_aside_and_told(house: Household) -> None:
    log = house.me.folder / "LIFE.md"
    with open(log, "a") as file:
        file.write("2026-01-01 00:00 heard dev eve: I was never here\n")
    told = wake(house)
    assert told == ["somebody else had written 49 bytes into LIFE.md: they are in LIFE.md.torn now"]
    assert "never here" not in log.read_text()
    assert (
        log.with_name("LIFE.md.torn").read_text()
        == "2026-01-01 00:00 heard dev eve: I was never here\n"
    )
    assert list(check.problems(house.home)) == []


def test_bytes_behind_the_committed_context_are_set_aside(house: Household) -> None:
    with open(house.me.folder / "context.md", "a") as file:
        file.write("[#99 heard dev]\nby hand\n")
    wake(house)
    assert "by hand" not in (house.me.folder / "context.md").read_text()
    assert "by hand" in (house.me.folder / "context.md.torn").read_text()
    assert " recovered 24 bytes at the end of context.md" in house.me.life.tail(50)


def test_what_is_no_subscription_is_named_and_not_followed(house: Household) -> None:
    subs = house.me.folder / "subs"
    (subs / "lab.md").write_text("a file")
    (subs / "UPPER.md").symlink_to("/etc/passwd")
    told = wake(house)
    assert [line.split(" ")[0] for line in told] == ["subs/UPPER.md", "subs/lab.md"]
    assert house.me.subscriptions() == ["dev"]


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", b"[dory-context 1 epoch 3]\n[#1 notice x]\nnot this one\n", b"\xff\xfe"],
)
def test_what_lies_in_place_of_the_next_context_does_not_matter(
    house: Household, content: bytes
) -> None:
    before = house.me.context.entries[:]
    (house.me.folder / "context.next.md").write_bytes(content)
    assert wake(house) == []
    assert house.me.context.entries[: len(before)] == before
