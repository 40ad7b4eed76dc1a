"""A compaction in one call: chunks and summaries in one answer, read and checked as strictly as in
two phases.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dory.control import Control
from dory.identity import context
from dory.offline import OfflineModel
from dory.types import Prompt, Purpose, Reply
from tests.support.compacting import House, Scripted, kinds, originals, summary


def asked_spans(prompt: Prompt, size: int) -> list[str]:
    """Spans of ``size`` ids over what the request names."""
    first, last = map(int, re.findall(r"\n\[#distil (\d+)-(\d+)\]", prompt.text)[-1])
    return [f"{at}-{min(at + size - 1, last)}" for at in range(first, last + 1, size)]


def in_one(of: Callable[[str], str] = lambda span: summary(f"crate of {span}", 5)) -> Scripted:
    """A model that answers with three ids a chunk, each with what ``of`` says of it."""
    return Scripted(
        segment=lambda prompt: "\n\n".join(
            f"CHUNK: {span}\n{of(span)}" for span in asked_spans(prompt, 3)
        )
    )


def compacted(tmp_path: Path, model: Scripted) -> House:
    """A house after one compaction."""
    house = House(tmp_path, model, compaction="one-call")
    house.hear(29)
    house.compact()
    return house


def test_chunks_and_summaries_come_from_one_request_and_nothing_is_lost(tmp_path: Path) -> None:
    house = House(tmp_path, in_one(), compaction="one-call")
    house.hear(29)
    before = context.render(house.me.context.entries)
    house.compact()
    assert [purpose for purpose, _ in house.model.asked] == ["segment"]
    faded = [entry for entry in house.me.context if entry.kind == "compacted"]
    assert len(faded) > 2 and all(entry.gist == f"crate of {entry.ids}" for entry in faded)
    assert context.render(originals(house.me.context.entries, house.me.blobs)) == before


@pytest.mark.parametrize(
    "wrong",
    ["GIST: <who and what>\nSUMMARY:\n<a few sentences>", "SUMMARY:\nEve bakes cakes.", "Nothing"],
)
def test_what_cannot_be_used_of_an_answer_is_extracted_and_the_rest_is_kept(
    tmp_path: Path, wrong: str
) -> None:
    house = compacted(
        tmp_path, in_one(lambda span: wrong if span == "4-6" else summary(f"crate of {span}", 5))
    )
    gists = {entry.ids: entry.gist for entry in house.me.context if entry.kind == "compacted"}
    assert gists["1-3"] == "crate of 1-3" and gists["4-6"].startswith("ada: crate")
    assert len(house.model.asked) == 1


@pytest.mark.parametrize(
    "answer", ["I have read it all.", "CHUNK: 900-905\nSUMMARY:\ncrate 1", "CHUNK: 1-3\ncrate"]
)
def test_an_answer_of_no_use_is_asked_for_once_more_and_then_done_without(
    tmp_path: Path, answer: str
) -> None:
    house = compacted(tmp_path, Scripted(segment=lambda prompt: answer))
    assert ["[#retry]" in prompt.text for _, prompt in house.model.asked] == [False, True]
    assert "compacted" in kinds(house.me.context.entries) and house.me.state.failures == 0


def test_of_an_answer_that_was_cut_off_the_last_chunk_is_not_taken(tmp_path: Path) -> None:
    class Cut(Scripted):
        """Its answers end at the length limit."""

        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            return replace(super().complete(prompt, purpose, control), cut=True)

    def answer(prompt: Prompt) -> str:
        return f"CHUNK: 1-6\n{summary('crate 1', 5)}\nCHUNK: 7-12\n{summary('crate 7 is', 5)}"

    house = compacted(tmp_path, Cut(segment=answer))
    shown = kinds(house.me.context.entries)
    assert shown.startswith("1-6 compacted, 7 heard") and len(house.model.asked) == 1


def test_sloppy_headers_are_understood_and_a_sentence_about_entries_is_none(tmp_path: Path) -> None:
    def answer(prompt: Prompt) -> str:
        first, second, *_ = asked_spans(prompt, 6)
        told = summary("crate and more\nEntries 1 and 2 are crates.", 5, "crate")
        return f"**Chunk 1: {first}**\n{told}\n### chunk {second.replace('-', ' to ')}\n{told}"

    house = compacted(tmp_path, Scripted(segment=answer))
    assert kinds(house.me.context.entries).startswith("1-6 compacted, 7-12 compacted")


def test_the_offline_model_cuts_and_sums_up_in_one_call_as_it_does_in_two_phases(
    tmp_path: Path,
) -> None:
    contexts = []
    offline = OfflineModel()
    for way in ("one-call", "two-phase"):
        model = Scripted()
        for purpose in ("segment", "summarise"):
            model.rules[purpose] = lambda prompt: offline.complete(prompt, "segment").text
        house = House(tmp_path / way, model, compaction=way)
        house.hear(29)
        house.compact()
        contexts.append(
            re.sub(r"hash=\w+|\S+T\d\d:\d\d\S*", "", context.render(house.me.context.entries))
        )
        assert (len(house.model.asked) == 1) == (way == "one-call")
    assert contexts[0] == contexts[1] and "compacted" in contexts[0]
