"""A room's file that a person edits, exchanges or puts back from a backup: what is new in it is
heard, nothing is heard or run twice, and the agent is told once.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory import check
from dory.chat.session import Session
from dory.identity import state
from dory.storage.rooms import HEADING
from dory.turn.extension import Command
from dory.turn.inbox import Inbox
from tests.support.household import Household, bodies, household, killed_everywhere

LONG_AGO = "2020-01-01T00:00:00Z"
LATER = "2027-01-01T00:00:00Z"


class Listener:
    """An agent that hears, and runs the command ``/note``."""

    def __init__(self, house: Household) -> None:
        self.house = house
        self.ran: list[str] = []
        self.told: list[str] = []
        self.path = house.me.rooms.path("dev")

    def hear(self, restarted: bool = False) -> list[str]:
        """What is heard now, for the first time."""
        if restarted:
            self.house.restart()
        before = len(self.heard())
        inbox = Inbox(self.house.me, [Command("/note <text>", self.note)], self.told.append)
        inbox.receive()
        inbox.receive()
        return self.heard()[before:]

    def heard(self) -> list[str]:
        """All that was heard."""
        entries = bodies(self.house.me.context.entries, "heard")
        return [line.partition("] ")[2] for line in entries]

    def note(self, text: str) -> str:
        self.ran.append(text)
        return "done"

    def notices(self) -> int:
        """How often the agent was told that the file is another one."""
        notices = bodies(self.house.me.context.entries, "notice")
        return sum("was edited or exchanged" in notice for notice in notices)

    def edit(self, change: Callable[[str], str], in_place: bool = False) -> None:
        """Save the room's file as an editor does."""
        text = change(self.path.read_text())
        saved = self.path if in_place else self.path.with_suffix(".new")
        saved.write_text(text)
        saved.rename(self.path)


def talked(listener: Listener, count: int = 30) -> None:
    for number in range(count):
        listener.house.hear("dev", "ada", f"word {number}")
    listener.house.hear("dev", "ada", "/note one")
    assert len(listener.hear()) == count and listener.ran == ["one"]


@pytest.fixture
def listener(tmp_path: Path) -> Listener:
    return Listener(Household(tmp_path / "home"))


@pytest.mark.parametrize("restarted", [False, True], ids=["while it runs", "while it is away"])
@pytest.mark.parametrize("in_place", [False, True], ids=["by a new file", "in place"])
def test_after_an_edit_further_up_it_goes_on_behind_what_it_knows(
    listener: Listener, restarted: bool, in_place: bool
) -> None:
    talked(listener)
    listener.edit(
        lambda text: text.replace("word 3\n", "a much longer word, with which all moves\n"),
        in_place,
    )
    listener.house.hear("dev", "bob", "new")
    listener.house.hear("dev", "bob", "/note two")
    assert listener.hear(restarted) == ["new"] and listener.ran == ["one", "two"]
    assert listener.notices() == 1
    listener.house.hear("dev", "bob", "newer")
    assert listener.hear(restarted) == ["newer"] and listener.notices() == 1
    assert list(check.problems(listener.house.home)) == []


def test_a_room_exchanged_for_a_longer_file_loses_no_line(listener: Listener) -> None:
    talked(listener)
    lines = [f"[USER:bob {LATER}] other {number} {'x' * 50}" for number in range(60)]
    listener.edit(lambda text: "\n".join([HEADING, *lines, f"[USER:bob {LATER}] /note two", ""]))
    assert len(listener.hear()) == 60 and listener.ran == ["one", "two"]
    assert listener.notices() == 1 and listener.hear() == []


def test_of_an_old_file_it_hears_what_a_newcomer_would_and_runs_nothing(
    listener: Listener,
) -> None:
    talked(listener)
    lines = [f"[USER:bob {LONG_AGO}] other {number} {'x' * 50}" for number in range(60)]
    listener.edit(lambda text: "\n".join([HEADING, *lines, f"[USER:bob {LONG_AGO}] /note two", ""]))
    assert len(listener.hear()) == 19 and listener.ran == ["one"] and listener.notices() == 1


def test_a_backup_to_which_others_have_written_is_heard_from_there_on(listener: Listener) -> None:
    talked(listener)
    backup = listener.path.read_bytes()
    for number in range(30):
        listener.house.hear("dev", "ada", f"gone {number}")
    listener.hear()
    listener.path.write_bytes(backup)
    for number in range(40):
        listener.house.hear("dev", "bob", f"new {number}")
    assert listener.hear() == [f"new {number}" for number in range(40)]
    assert listener.notices() == 1


def test_a_backup_is_not_heard_again_nor_what_was_put_in_its_place(listener: Listener) -> None:
    talked(listener)
    backup = listener.path.with_name("backup")
    shutil.copy(listener.path, backup)
    for number in range(30):
        listener.house.hear("dev", "ada", f"later {number}")
    listener.hear()
    right = listener.path.with_name("right")
    listener.path.rename(right)
    backup.rename(listener.path)
    assert listener.hear() == []
    right.rename(listener.path)
    listener.house.hear("dev", "bob", "new")
    assert listener.hear(restarted=True) == ["new"] and listener.ran == ["one"]


def test_a_file_that_is_empty_for_a_while_is_not_heard_again(listener: Listener) -> None:
    talked(listener)
    text = listener.path.read_text()
    for nothing in ("", f"{HEADING}\n"):
        listener.path.write_text(nothing)
        assert listener.hear() == [] and listener.hear(restarted=True) == []
        listener.path.write_text(text)
        assert listener.hear(restarted=True) == []
    listener.path.unlink()
    assert listener.hear() == []
    listener.house.hear("dev", "bob", "begun anew")
    assert listener.hear() == ["begun anew"]


@pytest.mark.parametrize("restarted", [False, True], ids=["while it runs", "while it is away"])
def test_a_room_that_was_deleted_and_begun_again_is_told_once(
    listener: Listener, restarted: bool
) -> None:
    for round in range(1, 3):
        listener.house.hear("dev", "ada", f"before {round}")
        listener.hear()
        listener.path.unlink()
        assert listener.hear(restarted) == [] and listener.notices() == round
        listener.house.me.commit()
        listener.house.hear("dev", "bob", f"begun anew {round}")
        assert listener.hear(restarted) == [f"begun anew {round}"]
        assert listener.notices() == round


def test_a_room_in_which_nothing_was_said_and_that_gets_a_past_is_heard(
    listener: Listener,
) -> None:
    listener.hear()
    listener.path.write_text("".join(f"[USER:bob {LONG_AGO}] {n}\n" for n in range(30)))
    assert listener.hear() == [str(number) for number in range(30)]


def test_an_older_dorys_cursor_is_trusted_and_completed(listener: Listener) -> None:
    talked(listener)
    house = listener.house
    position = house.me.state.rooms["dev"]
    house.me.state.rooms["dev"] = state.RoomState(position.read, position.commands)
    house.me.commit()
    house.hear("dev", "bob", "new")
    assert listener.hear(restarted=True) == ["new"] and listener.notices() == 0
    listener.edit(lambda text: text.replace("word 1\n", "another word\n"))
    house.hear("dev", "bob", "newer")
    assert listener.hear(restarted=True) == ["newer"] and listener.notices() == 1


def test_after_a_kill_at_any_instant_an_exchanged_room_is_heard_and_told_once(
    tmp_path: Path,
) -> None:
    listener = Listener(Household(tmp_path / "home"))
    talked(listener, 3)
    listener.edit(lambda text: text.replace("word 0\n", "a much longer word\n"))
    listener.house.hear("dev", "bob", "new")
    listener.house.hear("dev", "bob", "/note two")
    for _ in killed_everywhere(listener.house, listener.hear):
        listener.hear()
        assert listener.heard() == ["word 0", "word 1", "word 2", "new"]
        assert listener.notices() == 1
        assert listener.house.said("dev", "NOTICE").count("done") == 2


@given(
    st.lists(st.integers(0, 9), unique=True, max_size=6),
    st.lists(st.integers(0, 9), max_size=4),
    st.integers(0, 3),
    st.booleans(),
)
def test_whichever_old_lines_go_or_come_what_is_new_behind_them_is_heard_once(
    deleted: list[int], inserted: list[int], new: int, restarted: bool
) -> None:
    with household() as house:
        listener = Listener(house)
        for number in range(10):
            house.hear("dev", "ada", f"word {number}")
        listener.hear()
        lines = listener.path.read_text().splitlines(keepends=True)
        for number in inserted:
            lines[number] += f"[USER:eve {LONG_AGO}] inserted\n"
        for number in deleted:
            lines[number + 1] = ""
        listener.path.write_text("".join(lines))
        for number in range(new):
            house.hear("dev", "bob", f"new {number}")
        heard = [text for text in listener.hear(restarted) if text != "inserted"]
        assert heard == [f"new {number}" for number in range(new)]


def test_a_chat_goes_on_behind_what_it_has_shown_and_says_so(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    listener = Listener(house)
    talked(listener, 5)
    session = Session(house.home, "dev", "cleo")
    assert session.heard() == []
    listener.edit(lambda text: text.replace("word 3\n", "a much longer word\n"))
    house.hear("dev", "bob", "new")
    told, new = session.heard()
    assert (told.kind, new.text) == ("NOTICE", "new")
    assert (
        told.text == "the file of the room dev was edited or exchanged; what is new in it follows"
    )
    assert session.heard() == []
    os.unlink(listener.path)
    house.hear("dev", "bob", "begun anew")
    assert [line.text for line in session.heard()][1:] == ["begun anew"]
