"""A long life in which the soul stands in every prompt, and in nothing that is compacted, summed
up, archived, indexed or logged.

Each entry has a word that stands nowhere else, which is looked for in every byte below the home:
blobs, context, LIFE, notes and archives, the index, the summaries of the cascade, the diary, the
rooms. The agent adds its beliefs by tool lines in every form. What it thinks or says of them beside
such a line would be kept like anything else.
"""

import re
from pathlib import Path

import pytest

from dory import check
from dory.config.profiles import CascadeSettings
from dory.extensions.soul.store import NAME, Beliefs
from dory.types import Prompt
from tests.extensions.soul.test_extension import holding
from tests.support.cascading import covered
from tests.support.compacting import House, Scripted, asked_ids, summary
from tests.support.remembering import recall, step

ALL = "soul, diary, notes, recall, cascade"
TURNS = 50


def word(number: int) -> str:
    """One that stands nowhere else, in letters, as the index would take it."""
    return "qx" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}") + "zyg"


class Watching(Scripted):
    """A model that says what it is told to, and notes each prompt that lacks an entry, or holds one
    that was removed.
    """

    def __init__(self) -> None:
        super().__init__(self.answer, summarise=self.sum_up)
        self.says = "WAIT"
        self.wrong = list[str]()
        self.added = set[str]()
        self.folder = Path()

    def answer(self, prompt: Prompt) -> str:
        self.look("turn", prompt)
        return self.says

    def sum_up(self, prompt: Prompt) -> str:
        self.look("summarise", prompt)
        told = " ".join(
            re.findall(r"\[#\d+ response.*\n(.*)\n(.*)", prompt.text)[-1]
            if "response" in prompt.text
            else []
        )
        return summary(f"{asked_ids(prompt)}: {told[:60]}", 5)

    def look(self, purpose: str, prompt: Prompt) -> None:
        now = {one.text for one in Beliefs(self.folder).entries}
        system = prompt.messages[0].content
        self.wrong += [f"{purpose} lacks {text}" for text in now if system.count(text) != 1]
        self.wrong += [f"{purpose} has {text}" for text in self.added - now if text in prompt.text]
        self.wrong += [
            f"{purpose} tells of {text}"
            for text in now
            for message in prompt.messages[1:]
            if text in message.content
        ]


def turn(house: House, model: Watching, says: str) -> None:
    """Somebody speaks, the agent answers, the loop goes on."""
    house.say(f"and what about thing {house.me.state.turn}? {'so much to tell of it ' * 6}")
    model.says = says
    house.agent.inbox.receive()
    house.agent.turn()
    step(house)


def said(number: int, folder: Path) -> str:
    """What the agent does in the turn of that number."""
    text = f"{word(number)} is what I believe in and live for"
    lines = [
        f"Let me think.\nADD_TO_SOUL {text}",
        f"ADD_TO_SOUL <<END\n{text}\nEND\nWRITE_DIARY a quiet day {number}",
        "Nothing new.",
    ]
    if number % 4 == 3:
        return f"REMOVE_FROM_SOUL {Beliefs(folder).entries[0].id}\nRECALL believe {number}"
    return lines[number % 3] + f"\nSAY dev thing {number} is well"


def long_lived(home: Path, model: Watching, layout: str) -> House:
    """An agent with small windows, so that much is compacted and summed up."""
    windows = CascadeSettings(immediate_window=32, recent_window=32)
    house = House(home, model, extensions=ALL, cascade=windows, layout=layout, context_limit=1500)
    model.folder = house.me.folder
    return house


@pytest.mark.parametrize("layout", ["tail", "ledger"])
def test_every_prompt_has_the_whole_soul_and_nothing_else_has_any_of_it(
    tmp_path: Path, layout: str
) -> None:
    model = Watching()
    house = long_lived(tmp_path, model, layout)
    swaps = opened = 0
    for number in range(TURNS):
        turn(house, model, said(number, model.folder))
        model.added |= {one.text for one in Beliefs(model.folder).entries}
        if number % 6 == 5:
            house.compact()
            step(house)
        if number % 10 == 9:
            faded = [entry.hash for entry in house.me.context if entry.kind == "compacted"]
            swaps += len(faded)
            look_ups = f"RECALL what I believe in\nREAD_FILE LIFE.md\nREAD_FILE {NAME}"
            turn(house, model, f"UNCOMPACT {faded[-1]}\n{look_ups}\nNOTE_READ {number}")
            opened += house.me.context.entries[-1].kind in ("error", "result", "uncompacted")
        if number == 17:
            house.compaction.undo()
        if number % 15 == 14:
            house.me.folder.joinpath("MEMORY.md").write_text(f"turn {number}")
            house.wake()
            step(house)
    assert model.wrong == []
    soul = [one.text for one in Beliefs(model.folder).entries]
    assert len(soul) > 5 and len(model.added) > len(soul)
    assert swaps > 5 and opened == TURNS // 10
    assert {"turn", "segment", "summarise", "cascade"} == {purpose for purpose, _ in model.asked}
    assert all(covered(house)) and any(note.kind == "Archive" for note in recall(house).notes)
    assert holding(tmp_path, "thing 8 is well") and holding(tmp_path, "ADD_TO_SOUL (kept"), (
        "what was said beside it is kept"
    )
    for number in range(TURNS):
        assert holding(tmp_path, word(number)) in ([], [f"agents/{house.hash}/{NAME}"])
    assert sum(len(holding(tmp_path, text)) for text in soul) == len(soul)
    assert list(check.problems(tmp_path)) == []
