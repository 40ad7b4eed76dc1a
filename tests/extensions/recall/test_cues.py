"""A cue is a line below a message that names the past entry to which the message may belong."""

from pathlib import Path

import pytest

from bench.common import reach
from dory import check
from dory.extensions.recall.search import CUE_SHARE, CUES
from dory.identity import context
from dory.identity.heard_entry import read
from dory.offline import prompt_reader
from dory.text import references
from tests.support.compacting import House, Scripted, act, summary
from tests.support.remembering import OTHERS, TRIP, fade, hear, recall, step


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, Scripted())


def listen(house: House, *said: str, kind: str = "USER") -> list[str]:
    """What stands in the context of these lines of the room."""
    for text in said:
        house.say(text, kind)
    before = len(house.me.context.entries)
    house.agent.inbox.receive()
    step(house)
    return [entry.body for entry in house.me.context.entries[before:] if entry.kind == "heard"]


def faded(house: House) -> str:
    """A trip is told of, among other things, and compacted; the hash."""
    hear(house, TRIP, *OTHERS)
    return fade(house, house.me.context.entries[1:4], "Ada's trip")


def test_a_message_that_belongs_to_something_past_names_it_in_one_line(house: House) -> None:
    hash = faded(house)
    (body,) = listen(house, "what was the hotel in Lisbon?\n↳ hotel Lisbon")
    assert body.endswith(
        f"Lisbon?\n    ↳ hotel Lisbon\n↳ may belong to this: ◱hash={hash} gist=Ada's trip◲"
    )
    assert read(body).text == "what was the hotel in Lisbon?\n↳ hotel Lisbon"
    assert hash in [named for named, _ in references.live(context.render(house.me.context))]
    assert list(check.problems(house.home)) == []


def test_notes_are_named_by_name_and_archives_by_their_stretch(house: House) -> None:
    faded(house)
    act(house, "NOTE_ADD lisbon-hotel Miramar")
    house.wake()
    step(house)
    hear(house, "the Lisbon hotel has a pool", "and a bar")
    fade(house, house.me.context.entries[-5:], "of the note and the pool")
    hear(house, *OTHERS * 5)
    (body,) = listen(house, "the Lisbon hotel?")
    assert "note lisbon-hotel · " in body and body.count("◱hash=") == 2


@pytest.mark.parametrize(
    "text",
    [
        "zebras play the xylophone at dawn",
        "hello, how are you?",
        "thanks!",
        "",
        "?",
        "my sister in Lisbon sells tickets to concerts",
    ],
)
def test_a_message_that_belongs_to_nothing_clearly_has_no_such_line(
    house: House, text: str
) -> None:
    faded(house)
    assert "↳" not in listen(house, text)[0]


def test_what_stands_in_the_context_is_not_named(house: House) -> None:
    hear(house, TRIP, *OTHERS * 3)
    house.model.rules["summarise"] = lambda prompt: summary("the hotel in Lisbon", 5)
    house.compact()
    for entry in [entry for entry in house.me.context if entry.kind == "compacted"]:
        act(house, f"UNCOMPACT {entry.hash}")
    act(house, "NOTE_ADD lisbon-hotel Miramar in Lisbon")
    step(house)
    assert "↳" not in listen(house, "what was the hotel in Lisbon?")[0]


def test_a_cue_names_three_at_most(house: House) -> None:
    for number in range(5):
        hear(house, f"the hotel in Lisbon, part {number}", *OTHERS)
        fade(house, house.me.context.entries[-5:-4], f"part {number}")
    (body,) = listen(house, "what was the hotel in Lisbon?")
    assert body.count("◱hash=") == CUES


def test_only_what_people_say_and_of_a_flood_only_the_newest_lines_have_cues(house: House) -> None:
    faded(house)
    assert "↳" not in listen(house, "what was the hotel in Lisbon?", kind="AGENT")[0]
    bodies = listen(house, *["what was the hotel in Lisbon?"] * 15)
    assert ["↳" in body for body in bodies] == [False] * 5 + [True] * 10


def test_cues_can_be_switched_off(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), cues=False)
    faded(house)
    assert "↳" not in listen(house, "what was the hotel in Lisbon?")[0]


def test_what_could_be_named_is_shown_with_its_share(house: House) -> None:
    hash = faded(house)
    hits = recall(house).search.candidates(
        "what was the hotel in Lisbon?", house.me.context.entries, share=0.1
    )
    assert hits[0][0].hash == hash and hits[0][1] >= CUE_SHARE
    assert [share for _, share in hits] == sorted((share for _, share in hits), reverse=True)


def test_a_message_with_a_cue_is_read_as_what_was_said(house: House) -> None:
    faded(house)
    (body,) = listen(house, "what was the hotel in Lisbon?")
    assert "↳" in body
    entry = house.me.context.entries[-1]
    assert [message.text for message in prompt_reader.heard(entry)] == [
        "what was the hotel in Lisbon?"
    ]
    pieces = reach.entered(house.home, house.me.folder, "dev")
    assert reach.depths(pieces, house.me.context.entries, house.me.blobs) == [0]
