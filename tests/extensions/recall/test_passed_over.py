"""RECALL finds what the agent has passed over in its rooms."""

from pathlib import Path

import pytest

from dory.turn.flood import LINES
from tests.support.compacting import House, Scripted, act


@pytest.fixture
def house(tmp_path: Path) -> House:
    """An agent whose room was flooded; ada said something in the middle."""
    house = House(tmp_path, Scripted(), context_limit=20_000)
    flood = "".join(
        f"[USER:bot 2026-03-02T12:00:04Z] line {number} of the flood\n" for number in range(LINES)
    )
    with open(house.me.rooms.path("dev"), "a") as file:
        file.write(flood)
        file.write("[USER:ada 2026-03-02T12:00:04Z] the hotel in Lisbon is the Miramar\n")
        file.write("[USER:ada 2026-03-02T12:00:05Z] and so on\n")
        file.write(flood)
    house.live(house.asleep)
    assert not any("Miramar" in entry.body for entry in house.me.context)
    return house


def recall(house: House, query: str) -> str:
    act(house, f"RECALL {query}")
    return house.me.context.entries[-1].body


def test_a_line_that_was_passed_over_is_found_by_its_words_and_can_be_read(house: House) -> None:
    answer = recall(house, "hotel lisbon")
    (line,) = [line for line in answer.splitlines() if line.startswith("- passed over")]
    assert "the hotel in Lisbon is the Miramar" in line
    path = line.partition("-> READ_FILE ")[2]
    name, _, numbers = path.partition(" ")
    first, _, last = numbers.partition("-")
    shown = (house.home / name).read_text().splitlines()[int(first) - 1 : int(last)]
    assert any("Miramar" in text for text in shown)


def test_few_lines_are_shown_and_only_those_with_most_of_the_words(house: House) -> None:
    assert recall(house, "the flood line").count("- passed over") == 3
    assert "- passed over" not in recall(house, "hotel miramar rome paris")


def test_people_are_shown_it_where_they_may_see_it(house: House) -> None:
    house.say("/recall hotel lisbon")
    house.live(lambda: any("hotel lisbon" in text for text in house.lines("NOTICE")))
    assert any("Miramar" in text for text in house.lines("NOTICE"))


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("Die Übung ist um sieben", "übung"),
        ("die ÜBUNG ist um sieben", "Übung"),
        ("die u\u0308bung ist um sieben", "Übung"),
        ("in der Straße nach Norden", "STRASSE"),
        ("in der STRASSE nach Norden", "straße"),
        ("wir treffen uns im Café", "cafe"),
        ("\uff28otel", "hotel"),
    ],
)
def test_words_are_folded_as_in_every_search(tmp_path: Path, said: str, query: str) -> None:
    house = House(tmp_path, Scripted(), context_limit=20_000)
    tag = "[USER:bot 2026-03-02T12:00:04Z]"
    flood = "".join(f"{tag} Zeile {number} ßß\n" for number in range(LINES))
    with open(house.me.rooms.path("dev"), "a") as file:
        file.write(f"{flood}{tag} {said}, behind\n{flood}")
    house.live(house.asleep)
    (line,) = [hit for hit in recall(house, query).splitlines() if hit.startswith("- passed over")]
    assert "behind -> READ_FILE chats/dev.md" in line
