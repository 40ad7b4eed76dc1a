"""Long-term memories as people see and mend them."""

import re
from pathlib import Path

import pytest

from dory import check
from dory.extensions.memories.record import PERSON, TEXT_LIMIT
from dory.extensions.memories.store import CEILING
from dory.text.pages import PAGE
from dory.turn.inbox import Inbox
from tests.extensions.memories.test_extension import Remembering
from tests.support.household import NOON, bodies, killed_everywhere


@pytest.fixture
def house(tmp_path: Path) -> Remembering:
    return Remembering(tmp_path / "home")


def said(house: Remembering, line: str) -> str:
    """What the room hears when a person types a command."""
    house.hear("dev", "ada", line)
    Inbox(house.me, house.host.commands(), print).receive()
    return house.said("dev", "NOTICE")[-1]


def notices(house: Remembering) -> list[str]:
    return bodies(house.me.context.entries, "notice")


def test_people_page_through_summaries_and_memories_and_bring_back_what_a_summary_stands_for(
    house: Remembering,
) -> None:
    assert said(house, "/memories") == "there are no long-term memories yet"
    house.remember(PAGE + 5)
    house.bank.narrate([1, 2, 3], "Three things were told.", NOON)
    lines = said(house, "/memories").splitlines()
    assert lines[0] == f"{PAGE + 2} memories and 1 summary, 153 of 100,000 tokens"
    assert lines[1] == "summary 26 of 2026-03-02: Three things were told."
    assert lines[2].startswith("memory 25 of 2026-03-02: Ada told")
    assert lines[-1] == f"20 of {PAGE + 3}; /memories 2" and len(lines) == PAGE + 2
    lines = said(house, "/memories 2").splitlines()
    assert lines[-2].startswith("memory 4 of") and lines[-1] == "21-23 of 23"
    assert said(house, "/memories 3") == "there is no page 3: /memories 2 is the last"
    assert said(house, "/memories of Ada").startswith("write /memories, or /memories and a page")
    assert said(house, "/restore-memories 26").startswith(
        "3 memories are active again in the place of summary 26; 25 memories and 0 summaries"
    )
    assert "a person has brought them back" in notices(house)[-1]


def test_a_memory_is_shown_whole_and_a_summary_with_what_it_stands_for(house: Remembering) -> None:
    house.respond(f"ADD_TO_LONGTERM_MEMORY <<END\nAda told:\n{'rain ' * 200}END\nEND")
    house.remember(PAGE + 5)
    shown = said(house, "/memory #1")
    assert shown.startswith("memory 1 of 2026-03-02:\nAda told:\nrain ")
    assert shown.count("rain") == 200
    house.bank.narrate(range(2, PAGE + 4), "Many things were told.", NOON)
    lines = said(house, "/memory summary 27").splitlines()
    assert lines[:2] == ["summary 27 of 2026-03-02:", "Many things were told."]
    assert lines[3] == "it stands for 22 others (/restore-memories 27 brings them back):"
    assert lines[4].startswith("memory 2 of 2026-03-02, in summary 27: Ada told me thing number 0")
    assert lines[-1] == "20 of 22; /memory 27 2"
    assert said(house, "/memory 27 2").splitlines()[-1] == "21-22 of 22"


def test_people_add_remove_and_correct_memories_and_the_agent_is_told(house: Remembering) -> None:
    house.remember(1)
    assert said(house, "/remember Carl is allergic to nuts") == "remembered as memory 2"
    assert notices(house)[-1] == "A person has added memory 2: Carl is allergic to nuts"
    again = "it is remembered as memory 2 of 2026-03-02, from a person"
    assert said(house, "/remember Carl is allergic to nuts") == again
    wish = "A person wants you to remember memory 2: Carl is allergic to nuts"
    assert notices(house)[-1] == wish, "nothing was added"
    assert house.result("RETRIEVE_SPECIFIC_MEMORIES memory 2").body.startswith(
        "memory 2 of 2026-03-02, from a person: Carl is allergic to nuts"
    )
    assert said(house, "/correct 1 Ada told me of a boat") == "memory 1 says that now"
    assert notices(house)[-1].startswith("A person has corrected memory 1; it says now: Ada told")
    assert [memory.id for memory in house.bank.search("boat")] == [1]
    assert house.bank.search("number") == []
    assert said(house, "/forget memory 2") == (
        "removed memory 2 of 2026-03-02, from a person: Carl is allergic to nuts; /undo 4 takes"
        " that back"
    )
    told = "A person has removed memory 2 of 2026-03-02, from a person."
    assert notices(house)[-1] == told, "what is to be forgotten is not told again"
    assert house.held == [(1, "Ada told me of a boat")]
    assert list(check.problems(house.home)) == []


def test_a_narrative_is_corrected_in_place_and_what_stands_behind_it_stays(
    house: Remembering,
) -> None:
    house.remember(2)
    house.bank.narrate([1, 2], "Ada told of Lisbon.", NOON)
    assert said(house, "/correct 3 Ada told of Porto.") == "summary 3 says that now"
    assert said(house, "/correct 1 x").endswith(
        "summary 3 stands for it and says what it said: /memory 3"
    )
    assert list(check.problems(house.home)) == []
    assert house.bank.restore(3) == 2 and house.held[0] == (1, "x")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/memory", "something is missing: /memory <id>"),
        ("/memory Carl", "which memory? write /memory and its id; /memories lists them"),
        ("/memory 99", "there is no memory 99: /memories lists them"),
        ("/memory 1 next", "write /memory 1, or /memory 1 and a page"),
        ("/remember", "something is missing: /remember <text>"),
        (f"/remember {'x' * (TEXT_LIMIT + 1)}", "a memory may have 2,000: say it shorter"),
        ("/forget 99", "there is no memory 99: /memories lists them"),
        ("/forget 1 and 2", "write /forget 1 alone"),
        ("/forget 3", "summary 3 stands for others, and stays"),
        ("/forget everything", "which one? write /forget and its id"),
        ("/correct 2", "what is right? write /correct 2 and the whole text"),
        ("/correct 99 x", "there is no memory 99"),
        (f"/correct 1 {'x' * (TEXT_LIMIT + 1)}", "a memory may have 2,000: say it shorter"),
        ("/restore-memories x", "which summary?"),
        ("/restore-memories 99", "there is no summary 99"),
        ("/restore-memories 1", "nothing stands behind memory 1"),
    ],
)
def test_what_cannot_be_done_is_one_line_that_says_what_to_do(
    house: Remembering, line: str, told: str
) -> None:
    house.remember(2)
    house.bank.narrate([1, 2], "Things were told.", NOON)
    before = (house.past.store.rows("SELECT * FROM memory"), len(notices(house)))
    answer = said(house, line)
    assert told in answer and "\n" not in answer
    assert (house.past.store.rows("SELECT * FROM memory"), len(notices(house))) == before


def test_while_self_care_is_under_way_people_add_but_change_nothing(house: Remembering) -> None:
    house.remember(30)
    house.respond("SELF_CARE")
    before = house.held
    for line in ("/forget 1", "/correct 1 x", "/restore-memories 1"):
        assert "self-care is under way" in said(house, line)
    assert house.held == before
    assert said(house, "/remember a boat") == "remembered as memory 31"


def test_a_correction_keeps_to_the_ceiling_and_one_that_shortens_is_always_taken(
    house: Remembering,
) -> None:
    with house.past.store.writing():
        for _ in range(CEILING * 4 // TEXT_LIMIT):
            house.bank.add("x" * (TEXT_LIMIT - 100), NOON, PERSON)
        for _ in range(9):
            house.bank.add("y" * (TEXT_LIMIT - 100), NOON)
    assert house.bank.tokens < CEILING
    told = said(house, f"/correct 1 {'字' * 2000}")
    assert re.search(r"your memories hold 99,\d+ tokens of at most 100,000", told)
    assert said(house, "/correct 1 short") == "memory 1 says that now"


def test_no_secret_is_remembered_from_a_person(house: Remembering) -> None:
    said(house, "/remember the key is hunter2-hunter2")
    said(house, "/correct 1 the new key is hunter2-hunter2")
    assert house.held == [(1, "the new key is [secret]")]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("/remember a boat", [(1, "Ada told me thing number 0"), (2, "a boat")]),
        ("/forget 1", []),
        ("/correct 1 a boat", [(1, "a boat")]),
    ],
)
def test_wherever_a_command_is_killed_its_effect_is_there_once_and_told(
    house: Remembering, line: str, after: list[tuple[int, str]]
) -> None:
    house.remember(1)
    house.hear("dev", "ada", line)
    house.past.store.close()
    for _ in killed_everywhere(
        house, lambda: Inbox(house.me, house.host.commands(), print).receive()
    ):
        Inbox(house.me, house.host.commands(), print).receive()
        assert house.held == after
        assert sum(text.startswith("A person ") for text in notices(house)) == 1
        assert "memory" in house.said("dev", "NOTICE")[-1]
