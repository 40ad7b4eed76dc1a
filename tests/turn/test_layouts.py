"""Whole lives of the offline model in both layouts: what people see is the same, and within an
epoch what was sent stands.
"""

from itertools import pairwise
from pathlib import Path

import pytest

from dory import check
from dory.control import Control
from dory.offline import OfflineModel
from dory.types import Prompt, Purpose, Reply
from tests.support.compacting import House, Scripted

TALK = [
    "hello, who are you?",
    "please remember that my cat is called Miso",
    "the hotel in Lisbon is the Miramar, room 214, and breakfast is until ten",
    "what is my cat called?",
    "read MEMORY.md",
    "my cat is called Nori",
    "what is my cat called?",
]
LATER = [
    *(f"number {number}: the weather at the coast of Norway is grey again" for number in range(20)),
    "what is the room in Lisbon?",
]


class Heard(Scripted):
    """The offline model, with what it was asked."""

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        self.asked.append((purpose, prompt))
        return OfflineModel().complete(prompt, purpose)


def live(home: Path, layout: str, talk: list[str], **settings: int) -> House:
    house = House(home, Heard(), layout=layout, **settings)
    agent = house.agent
    for text in talk:
        house.say(text)
        while agent.inbox.receive() or house.me.state.awake:
            agent.compaction.step()
            house.finish()
            agent.turn()
    return house


def test_the_stand_in_answers_the_same_in_both_layouts(tmp_path: Path) -> None:
    tail, ledger = (
        live(tmp_path / layout, layout, TALK, context_limit=100_000)
        for layout in ("tail", "ledger")
    )
    assert len(ledger.lines("AGENT")) >= len(TALK)
    assert ledger.lines("AGENT") == tail.lines("AGENT")
    assert ledger.me.memory == tail.me.memory and "Nori" in ledger.me.memory
    prompts = [prompt for _, prompt in ledger.model.asked]
    assert all(after.text.startswith(before.text) for before, after in pairwise(prompts))
    assert {message.role for message in prompts[-1].messages} == {"system", "user", "assistant"}


@pytest.mark.parametrize("layout", ["tail", "ledger"])
def test_what_faded_is_brought_back_in_both_layouts(tmp_path: Path, layout: str) -> None:
    house = live(tmp_path, layout, [*TALK, *LATER], context_limit=1500)
    assert any(purpose == "summarise" for purpose, _ in house.model.asked)
    assert "214" in house.lines("AGENT")[-1]
    assert list(check.problems(tmp_path)) == []


def test_a_ledger_that_told_too_much_beside_the_context_is_laid_down_anew(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), layout="ledger", context_limit=8000)
    epochs, sizes = set[int](), list[int]()
    for number in range(30):
        (house.me.folder / "MEMORY.md").write_text(f"{number} " * 1500, encoding="utf-8")
        sizes.append(len(house.agent.prompts.build().text))
        house.agent.compaction.step()
        epochs.add(house.me.state.epoch)
    assert len(epochs) > 3
    assert max(sizes) < sizes[0] + 8000 / 4 * house.me.state.characters_per_token + 2 * 4500
