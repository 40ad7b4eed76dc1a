"""What the screen shows of agents at work, and what an idle screen does."""

import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prompt_toolkit.utils import get_cwidth

from dory.chat.live_view import doings, fitting, rows_of, unsaid
from dory.chat.session import Session
from dory.chat.watch import Watch
from dory.storage import live
from dory.storage.live import Live
from dory.storage.rooms import Rooms
from tests.support.household import Household
from tests.support.processes import agent, terminal

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
opened: list[str] = []


def note(event: str, data: tuple[object, ...]) -> None:
    """Note what is opened by its path: a number is a file that was opened so before."""
    if event == "open" and not isinstance(data[0], int):
        opened.append(str(data[0]))


sys.addaudithook(note)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 20), (12, 5), (200, 60)])
def test_of_a_long_text_the_last_rows_are_shown_in_a_third_of_the_terminal(
    columns: int, rows: int
) -> None:
    text = "the tram, the river and 日本語の本 " * 500 + "x" * 300 + "\n\n- the end"
    ((shown, texts),) = rows_of([Live("dory", "", text)], columns, rows)
    assert shown.name == "dory" and len(texts) + 1 <= max(3, rows // 3)
    assert texts[0].strip() == "…" and texts[-1] == "  - the end"
    assert all(get_cwidth(row) < max(columns, 14) for row in texts)


def test_a_short_text_is_shown_whole_between_words_and_safe() -> None:
    ((_, texts),) = rows_of([Live("dory", "", "one two three\x1b[2J four\n\nfive")], 15, 60)
    assert texts == ["  one two", "  three�[2J", "  four", "  ", "  five"]
    assert rows_of([Live("dory", "thinks", " \n")], 80, 24) == []


def test_many_who_write_share_the_third() -> None:
    lives = [Live(f"dory-{number}", "", "a b c\n" * 30) for number in range(9)]
    shown = rows_of(lives, 80, 24)
    assert 1 < sum(1 + len(texts) for _, texts in shown) <= 8


def test_a_text_is_shown_until_its_message_is_in_the_room() -> None:
    writing = Live("dory", "writes", "Hello  Ada,\nthe")
    said = "Hello Ada,\n\nthe trip begins"
    assert unsaid([writing], {"dory": said}) == [Live("dory", "writes")]
    assert unsaid([writing], {"dory": "Hello Ada"}) == [writing]
    assert unsaid([writing], {"ben": said}) == [writing]


def test_the_bar_says_what_agents_do_and_fits() -> None:
    lives = [Live("dory-1", "recalls\x1b lisbon"), Live("dory-2", "", "Hel")]
    assert doings(lives, ["dory-1", "dory-3"]) == (
        "dory-1 recalls� lisbon, dory-2 is writing, dory-3 is thinking"
    )
    assert doings([], []) == ""
    parts = [(3, "dev"), (0, "dory listens"), (2, "/help lists"), (1, "Ctrl-D leaves")]
    assert fitting(parts, 80) == "dev · dory listens · /help lists · Ctrl-D leaves"
    assert fitting(parts, 45) == "dory listens · /help lists · Ctrl-D leaves"
    assert fitting(parts, 30) == "dory listens · Ctrl-D leaves"
    assert fitting(parts, 5) == "dory listens"


def test_an_answer_appears_as_it_is_written_and_once_when_it_is_said(tmp_path: Path) -> None:
    chats = tmp_path / "chats"
    with terminal(tmp_path) as screen:
        screen.await_prompt()
        live.show(chats, "dev", Live("dory", "recalls lisbon"))
        screen.await_text("dory recalls lisbon")
        live.show(chats, "dev", Live("dory", "", "The trip\x1b[2J begins"))
        screen.await_text("The trip�\\[2J begins")
        screen.await_text("dory is writing")
        Rooms(chats).say("dev", "AGENT", "dory", "The trip\x1b[2J begins in **May**.", NOON)
        screen.await_text("begins in .*May")
        last = screen.seen.rindex("The trip")
        screen.await_prompt()  # nothing is being written any more, though the record is there
        live.clear(chats, "dev", "dory")
        screen.type("so it is\r")
        screen.await_text("ada.*\\s+so it is")
        assert screen.seen.rindex("The trip") == last, "the partial text was drawn again"


def test_an_idle_screen_opens_no_file_and_sees_what_changes(tmp_path: Path) -> None:
    chats = tmp_path / "chats"
    for _ in range(3):
        Household(tmp_path)  # asleep and not running
    with agent(tmp_path) as process:
        session = Session(tmp_path, "dev", "ada")
        watch = Watch(session, session.listeners())
        process.send_signal(signal.SIGSTOP)  # it commits nothing from now on
        try:
            (resident,) = watch.look().listeners
            opened.clear()
            looks = [watch.look() for _ in range(20)]
            seen = set(opened)
        finally:
            process.send_signal(signal.SIGCONT)
        assert {news.busy for news in looks} == {False}
        assert seen <= {str(tmp_path / "agents" / h.name) for h in folders(tmp_path)} | {
            str(resident.folder / "lock")
        }
        live.show(chats, "dev", Live("dory", "thinks"))
        assert watch.look().lives == [Live("dory", "thinks")]
        live.clear(chats, "dev", "dory")
        assert watch.look().lives == []
        Rooms(chats).say("dev", "USER", "ben", "hello", NOON)
        assert [line.text for line in watch.look().lines] == ["hello"]


def folders(home: Path) -> list[Path]:
    return sorted((home / "agents").glob("[0-9a-f]*"))
