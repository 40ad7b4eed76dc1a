"""Notes are found by what they are: by their names first, and not by the day on which they were
written. Words that occur nowhere are named.
"""

from pathlib import Path

import pytest

from tests.support.compacting import House, Scripted, act
from tests.support.remembering import OTHERS, answer, fade, hear, recall, step


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, Scripted())


def noted(house: House, *notes: str) -> None:
    for note in notes:
        act(house, f"NOTE_ADD {note}")
    step(house)


def faded(house: House) -> None:
    """What was noted stands in the context no more."""
    hear(house, *OTHERS)
    fade(house, house.me.context.entries[:-3], "notes are taken")


def told(house: House, query: str) -> str:
    return recall(house).search.recall(query, house.me.context.entries)


def found(house: House, query: str) -> list[str]:
    return [hit[8] or hit[4] for hit in answer(house, query)]


def test_a_note_is_found_by_its_name_before_others_that_only_mention_it(house: House) -> None:
    noted(
        house,
        "kafka the broker of messages between the services; two nodes, one topic for orders",
        "party bring a cake, kafka sings",
        "kafka-upgrade on hold",
    )
    faded(house)
    assert found(house, "kafka")[0] == "kafka"
    assert found(house, "Kafka ")[0] == "kafka"


def test_an_alias_is_a_name(house: House) -> None:
    noted(house, "party bring a cake for the broker", "kafka two nodes, one topic")
    act(house, "NOTE_ALIAS kafka broker")
    step(house)
    faded(house)
    assert found(house, "broker")[0] == "kafka"


def test_the_day_on_which_a_note_was_written_is_nothing_that_it_says(house: House) -> None:
    noted(house, "shopping bread and milk", "choir we sing on Friday, in the hall")
    faded(house)
    assert "shopping" not in found(house, f"{house.me.now():%A %B %Y}")
    assert found(house, "friday")[0] == "choir"


def test_words_that_occur_nowhere_are_named(house: House) -> None:
    hear(house, "the canoe is called Wilhelmina")
    step(house)
    line = told(house, "canoe wilhelmnia zeppelin")
    assert line.splitlines()[0].endswith(
        '; nothing has the words: zeppelin; nothing has "wilhelmnia", so this is for wilhelmina'
    )
    line = told(house, "canoe zeppelin")
    assert line.splitlines()[0].endswith("; nothing has the words: zeppelin")
    assert "nothing has" not in told(house, "canoe wilhelmina")
