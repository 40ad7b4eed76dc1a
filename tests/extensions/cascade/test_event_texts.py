"""What a summary is made of: the full text of each event, and what is no event at all."""

from pathlib import Path

import pytest

from dory import check
from dory.config.profiles import CascadeSettings
from dory.extensions import bookkeeping, tools
from dory.extensions.cascade.event_texts import EventTexts, middle_cut
from dory.extensions.cascade.life_reader import BEGINNING
from dory.identity import life
from dory.identity.life import LINE_LIMIT
from dory.text import references
from dory.types import Event
from tests.support.cascading import SMALL, happen, lined, lived, reader
from tests.support.compacting import House, Scripted, act
from tests.support.household import NOON
from tests.support.remembering import fade, step

CODE = "the code of the garden door is 4711"
LONG = f"I was in the garden {'and it was a long and sunny day ' * 6}, and {CODE}"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, Scripted(), cascade=SMALL, extensions="notes, recall, memories, cascade")


def told(house: House) -> list[str]:
    """The texts of all events, as a summary would be made of them."""
    texts = EventTexts(house.me.blobs, tools(), plainly=False)
    lines, _ = reader(house).read(BEGINNING, lived(house))
    return [f"{text.head.split(' ', 2)[2]} {text.text}" for text in map(texts.of, lines)]


def asked(house: House) -> str:
    return "\n".join(prompt.text for purpose, prompt in house.model.asked if purpose == "cascade")


def test_a_fact_at_the_end_of_a_long_message_reaches_the_summary(house: House) -> None:
    house.say(LONG)
    house.agent.inbox.receive()
    happen(house, 13)
    step(house)
    assert CODE in asked(house)
    line = house.me.life.tail(20).splitlines()[1]
    assert len(line) <= LINE_LIMIT and CODE not in line
    ((hash, _),) = references.live(line)
    assert house.me.blobs.get(hash).body == f"dev ada: {LONG}"
    assert list(check.problems(house.home)) == []


def test_of_a_very_long_event_beginning_and_end_are_read_and_the_setting_says_how_much(
    tmp_path: Path,
) -> None:
    small = CascadeSettings(immediate_window=8, recent_window=4, event_limit=150)
    house = House(tmp_path, Scripted(), cascade=small, extensions="cascade")
    house.say(f"Once I went to sea. {'It was wide. ' * 400} {CODE}")
    house.agent.inbox.receive()
    happen(house, 13)
    step(house)
    (line,) = [line for line in asked(house).splitlines() if "4711" in line]
    assert "Once I went to sea" in line and " … " in line
    assert len(line) <= 150 + len("2026-03-02 12:00 heard ")


@pytest.mark.parametrize("limit", [10, 11, 99])
def test_what_is_cut_in_the_middle_loses_neither_end(limit: int) -> None:
    text = "".join(map(str, range(1000)))
    cut = middle_cut(text, limit)
    before, after = cut.split(" … ")
    assert len(cut) == limit and text.startswith(before) and text.endswith(after)
    assert abs(len(before) - len(after)) <= 1 and middle_cut("short", limit) == "short"


def test_said_and_done_are_told_in_full_and_thoughts_are_left_out(house: House) -> None:
    act(house, f"<think>a secret plan</think>\nI only think this.\nSAY dev {LONG}\nWAIT")
    act(house, "<think>a secret plan</think>\nJust words.")
    act(house, "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\nAda sails.\n>>>>>>> REPLACE")
    (house.me.folder / "workspace" / "plan.md").write_text(f"{'far ' * 99}{CODE}\n")
    act(house, "READ_FILE workspace/plan.md")
    lines = told(house)
    assert lines[:3] == [
        f"response SAY dev {LONG}",
        "response Just words.",
        "response EDIT_FILE MEMORY.md\nAda sails.",
    ]
    assert lines[3] == "response READ_FILE workspace/plan.md"
    assert lines[4].startswith("READ_FILE workspace/plan.md, lines") and CODE in lines[4]
    assert len(lines) == 5 and "secret plan" not in "\n".join(lines)


def test_what_a_search_found_and_what_a_secret_file_holds_is_not_summed_up_anew(
    house: House,
) -> None:
    (house.me.folder / "workspace" / "api_key").write_text("swordfish\n")
    happen(house, 2)
    for tool in ("RECALL thing of this life", "READ_FILE LIFE.md 1-9"):
        act(house, tool)
    act(house, "READ_FILE workspace/api_key")
    lines = [line.split(" ", 1)[1] for line in told(house)[2:]]
    assert lines == [
        "RECALL thing of this life",
        "thing",
        "READ_FILE LIFE.md 1-9",
        "LIFE.md",
        "READ_FILE workspace/api_key",
        "workspace/api_key",
    ]


def test_an_original_that_is_opened_is_told_by_its_gist_and_never_by_its_hash(
    house: House,
) -> None:
    house.say(LONG)
    house.agent.inbox.receive()
    hash = fade(house, list(house.me.context.entries), "a trip: the hotel")
    act(house, f"UNCOMPACT {hash}\nREAD_FILE {hash}.md")
    assert told(house)[1:3] == [
        f"response UNCOMPACT\nREAD_FILE {hash}.md",
        "UNCOMPACT a trip: the hotel",
    ]


def test_a_failure_is_an_event(house: House) -> None:
    act(house, "SAY nowhere hello")
    assert told(house)[1].startswith("SAY failed you are not in the room 'nowhere'")


def test_bookkeeping_is_no_event_and_enters_no_summary(house: House) -> None:
    act(house, "SAY dev hello\nADD_TO_LONGTERM_MEMORY Ada sails.")
    act(house, "WAIT")
    act(house, "")
    house.me.notice("Heartbeat: nothing has happened for 60 seconds.")
    house.me.log("compacted", "a trip", "0123456789abcdef")
    house.me.commit()
    lines = [line.split(" ", 2)[2] for line in house.me.life.tail(99).splitlines()]
    kinds = [line.partition(" ")[0] for line in lines]
    assert {"SAY", "ADD_TO_LONGTERM_MEMORY", "WAIT", "notice", "compacted"} <= set(kinds)
    assert lived(house) == 1 and told(house)[0].startswith("response SAY dev hello")
    house.agent.prompts.build()
    happen(house, 13)
    step(house)
    for word in ("said in", "remembered as", "Heartbeat", "compacted", "booted", "WAIT"):
        assert word not in asked(house)
    assert lined(house) and "hello" in asked(house)


def test_an_event_whose_blob_is_gone_tells_what_its_line_has(house: House) -> None:
    line = life.line(Event(NOON, "heard", f"dev ada: {LONG}", "0123456789abcdef")).strip()
    text = EventTexts(house.me.blobs, tools(), plainly=False).of(line)
    assert text.text.startswith("dev ada: I was in the garden") and "◱" not in text.text


def test_in_a_lean_prompt_what_stands_beside_tool_lines_was_said(house: House) -> None:
    edit = "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\nAda sails.\n>>>>>>> REPLACE\nNoted!"
    act(house, edit)
    line = house.me.life.tail(2).splitlines()[0]
    for plainly in (True, False):
        texts = EventTexts(house.me.blobs, tools(), plainly)
        assert texts.of(line).text.endswith("Noted!") is plainly


def test_which_lines_tell_an_event_follows_from_what_tools_declare() -> None:
    known = bookkeeping(tools())
    at = "2026-03-02 12:00"
    events = [
        "heard dev ada: WAIT",
        "response ◱hash=0123456789abcdef gist=WAIT a moment◲",
        "READ_FILE ◱hash=0123456789abcdef gist=x◲",
        "SAY failed ◱hash=0123456789abcdef gist=x◲",
        "WAIT failed ◱hash=0123456789abcdef gist=x◲",
        "SAYING ◱hash=0123456789abcdef gist=of a tool that is gone◲",
    ]
    others = [
        "response ◱hash=0123456789abcdef gist=WAIT◲",
        "response ◱hash=0123456789abcdef gist=(an empty response)◲",
        "SAY ◱hash=0123456789abcdef gist=said in dev◲",
        "WAIT",
        "notice A part of what stands above has changed",
        "archived ◱hash=0123456789abcdef gist=trip◲",
        "dreamed ◱hash=0123456789abcdef gist=history 1: no changes◲",
    ]
    assert all(known.tells(f"{at} {line}") for line in events)
    assert not any(known.tells(f"{at} {line}") for line in others)
    everything = "\n".join(f"{at} {line}" for line in [*events, *others, *events])
    assert known.events(everything.encode()) == 2 * len(events)
    assert not known.tells("[dory-life 1] times in UTC") and not known.tells("")
