"""The store of memories: ids as people write them, texts that are corrected, Chinese texts."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from dory.extensions.memories.record import PERSON, TEXT_LIMIT, Memory
from dory.extensions.memories.store import CEILING
from tests.extensions.memories.test_store import Held, copies, refused
from tests.support.household import NOON


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


def test_a_chinese_text_counts_a_token_for_each_character(held: Held) -> None:
    held.add("艾达喜欢鱼", "Ada likes fish")
    assert held.bank.tokens == 9
    with held.store.writing():
        held.add(*["字" * TEXT_LIMIT] * (CEILING // TEXT_LIMIT - 1))
    refused(held, lambda: held.add("字" * TEXT_LIMIT), "98,009 tokens of at most 100,000")


@pytest.mark.parametrize("name", ["1", "#1", "memory 1", "Memory #1", "memory 1."])
def test_a_memory_is_found_by_its_id_however_it_is_written(held: Held, name: str) -> None:
    held.add("a fish", "memory of 1 boat")
    assert held.bank.search(name)[0].id == 1


def test_a_corrected_memory_is_known_to_an_agent_that_has_copied_it(
    held: Held, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Held(tmp_path / "other")
    other.add("Ada likes fish", "Bob has a bicycle")

    def given() -> list[Memory]:
        return [
            replace(memory, origin=memory.copied_from("dory-2"))
            for memory in other.bank.everything()
        ]

    assert held.bank.take(given(), NOON) == (2, 0)
    other.bank.correct(1, "Ada likes bread")
    other.bank.add("Carl is allergic to nuts", NOON + timedelta(minutes=1), PERSON)
    assert held.bank.take(given(), NOON + timedelta(hours=1)) == (1, 2)
    titles = [memory.title for memory in held.bank.active()]
    assert titles[-1] == "memory 3 of 2026-03-02, from dory-2 3"
    held.bank.correct(1, "Ada likes soup")
    corrected = held.bank.get(1)
    assert (corrected.origin, corrected.copied_from("dory-1")) == ("dory-2 1", "dory-2 1")
    assert held.bank.take(given(), NOON + timedelta(hours=1)) == (0, 3)


def test_a_corrected_copy_that_waits_for_the_index_is_indexed_once(held: Held) -> None:
    held.bank.take(copies(2), NOON)
    held.bank.correct(1, "a boat")
    held.bank.catch_up(10)
    assert [text for _, text in held.indexed["Memory"]] == ["a boat", "thing 2"]
