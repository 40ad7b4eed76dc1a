"""What a chat shows of a room that another program holds, or in which a line does not end."""

from pathlib import Path

import pytest

from dory.chat.session import Session
from dory.errors import DoryError
from dory.storage.rooms import Rooms
from tests.support.household import NOON, held


@pytest.fixture
def rooms(tmp_path: Path) -> Rooms:
    rooms = Rooms(tmp_path / "chats")
    rooms.say("dev", "USER", "ada", "hello", NOON)
    return rooms


def test_a_held_room_is_told_once_and_its_lines_come_later(tmp_path: Path, rooms: Rooms) -> None:
    session = Session(tmp_path, "dev", "cleo")
    rooms.say("dev", "USER", "ada", "again", NOON)
    with held(rooms.path("dev")):
        (told,) = session.heard()
        assert told.kind == "NOTICE"
        assert told.text.startswith("the room dev is held by another program")
        assert told.text.endswith("its lines come later") and session.heard() == []
        assert [line.text for line in session.last(9)] == ["hello"]
    assert [line.text for line in session.heard()] == ["again"]
    assert session.heard() == []


def test_what_cannot_be_said_in_a_held_room_is_given_back(tmp_path: Path, rooms: Rooms) -> None:
    session = Session(tmp_path, "dev", "cleo", patience=0.05)
    with (
        held(rooms.path("dev")),
        pytest.raises(DoryError, match=r"^'hi' was not said, the room dev is held by .*try again$"),
    ):
        session.say("hi")
    session.say("hi")
    assert [line.text for line in session.heard()] == ["hi"]


def test_a_line_without_an_end_hides_nothing_and_keeps_nobody_from_speaking(
    tmp_path: Path, rooms: Rooms
) -> None:
    with open(rooms.path("dev"), "ab") as file:
        file.write(b"[USER:eve 2026-03-02T12:00:00Z] " + b"x" * (40 << 20))
    session = Session(tmp_path, "dev", "cleo")
    assert [line.text for line in session.last(9)] == ["hello"] and session.heard() == []
    session.say("hi")
    cut_off, said = session.heard()
    assert "a message was cut off" in cut_off.text and said.text == "hi"


def test_a_name_that_ends_with_a_date_or_a_number_may_speak(tmp_path: Path, rooms: Rooms) -> None:
    for name in ("telegram_12345678", "visitor-20261123", "u-00112233"):
        assert Session(tmp_path, "dev", name).name == name
