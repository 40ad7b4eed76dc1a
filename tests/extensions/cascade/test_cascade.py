"""The parts of the cascade, one at a time: when a run is due, LIFE as numbered events, and what a
run asks the model.
"""

from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import FormatError, ModelAway, WindowExceeded
from dory.extensions import tools
from dory.extensions.cascade import rolling
from dory.extensions.cascade.event_texts import EventTexts
from dory.extensions.cascade.life_reader import BEGINNING, LifeReader
from dory.extensions.cascade.rolling import BATCH, LIMIT, PIECE, Task
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.store import Summary
from dory.identity.life import HEADING
from dory.storage.blobs import Blobs
from dory.text import redaction, references
from dory.text.formatting import bounded
from dory.types import Prompt
from tests.support.compacting import Scripted
from tests.support.household import NOON, texts

REDACT = partial(redaction.redact, secrets=["hunter2-hunter2"])


def test_runs_are_due_at_129_193_257_and_at_every_64th_memory_from_there() -> None:
    windows = Windows()
    covered = 0
    due = []
    for memories in range(1, 700):
        if instant := windows.reached(covered, memories):
            assert instant == memories
            due.append(instant)
            covered = instant - windows.immediate
    assert due == [129, 193, 257, 321, 385, 449, 513, 577, 641]


@given(st.integers(1, 70), st.integers(1, 70), st.lists(st.integers(1, 300), max_size=12))
def test_the_first_run_covers_all_that_had_left_the_window_and_each_later_run_its_own_events(
    immediate: int, recent: int, happened: list[int]
) -> None:
    windows = Windows(immediate, recent)
    covered = 0
    memories = 0
    for more in happened:
        memories += more
        while target := windows.target(covered, memories):
            assert (target - recent - 1) % recent == 0 and target + immediate <= windows.reached(
                covered, memories
            ) <= memories
            assert target - covered == recent if covered else memories - target < immediate + recent
            covered = target
        assert not windows.reached(covered, memories)
        assert memories - covered <= immediate + recent and not windows.behind(covered, memories)
        assert windows.next_run(covered) > memories
        missing = windows.missing(covered, memories)
        assert (missing == 0) == (memories - covered > immediate)


def life(
    folder: Path,
    lines: int,
    text: str = "an ordinary thing — ◱hash=5d41402abc4b2a76 gist=tea at noon◲",
) -> LifeReader:
    path = folder / "LIFE.md"
    path.write_text(
        HEADING
        + "".join(f"2026-03-02 12:00 heard {number} {text}\n" for number in range(1, lines + 1)),
        encoding="utf-8",
    )
    return LifeReader(path)


def test_memories_are_read_from_where_the_last_reading_ended(tmp_path: Path) -> None:
    memories = life(tmp_path, 500)
    place = BEGINNING
    read = list[str]()
    for count in (1, 65, 64, 100, 270):
        lines, place = memories.read(place, count)
        read += lines
        assert memories.holds(place) and place == memories.find(place.number)
        assert memories.count(BEGINNING.end, place.end) == place.number == len(read)
    assert [line.split()[3] for line in read] == [str(number) for number in range(1, 501)]
    with pytest.raises(FormatError, match="holds 0 events behind line 500, not 1"):
        memories.read(place, 1)


def test_a_place_that_does_not_hold_any_more_is_told_and_can_be_found_anew(tmp_path: Path) -> None:
    memories = life(tmp_path, 40)
    _, place = memories.read(BEGINNING, 30)
    life(tmp_path, 40, "another past")
    assert not memories.holds(place) and memories.holds(memories.find(30))
    with pytest.raises(FormatError, match="holds 40 events, its summaries cover 41"):
        memories.find(41)


def test_a_memory_is_found_in_a_life_of_many_blocks(tmp_path: Path) -> None:
    memories = life(tmp_path, 30_000)
    for number in (1, 12_345, 30_000):
        lines, place = memories.read(memories.find(number - 1), 1)
        assert lines[0].split()[3] == str(number) and place.number == number


def summary(first: int, last: int, text: str, memories: LifeReader) -> Summary:
    return Summary(first, memories.find(last), NOON, "scripted", text)


def asked(model: Scripted) -> list[str]:
    """What the prompts hold between the question and the end."""
    texts = [prompt.text for purpose, prompt in model.asked if purpose == "cascade"]
    begin = "Summarize these memories in 2-3 sentences:\n\n"
    end = "\n\nSUMMARY:"
    assert all(text.startswith(begin) and text.endswith(end) for text in texts)
    return [text.removeprefix(begin).removesuffix(end) for text in texts]


def task(
    memories: LifeReader,
    covered: int,
    target: int,
    *kept: Summary | None,
    begun: Summary | None = None,
    piece: int = 65,
) -> Task:
    longterm, recent = kept or (None, None)
    place = memories.find(covered)
    return Task(longterm, recent, begun, place, target - covered, piece, event_limit=1000)


def run(model: Scripted, memories: LifeReader, wanted: Task) -> rolling.Outcome:
    """A run over a life whose blobs, if it has any, stand beside it."""
    texts = EventTexts(Blobs(memories.path.parent / "blobs"), tools(), plainly=False)
    return rolling.run(model, memories, texts, wanted, REDACT)


def test_the_long_term_summary_takes_up_the_short_one_before_that_is_made_anew(
    tmp_path: Path,
) -> None:
    memories = life(tmp_path, 200)
    model = Scripted(cascade=lambda prompt: f"said {len(prompt.text)}.")
    old = summary(1, 65, "Long ago.", memories), summary(66, 129, "Lately.", memories)
    made = run(model, memories, task(memories, 129, 193, *old))
    first, second = asked(model)
    assert first == "Long ago.\nLately."
    assert (
        second.splitlines()[0] == "2026-03-02 12:00 heard 130 an ordinary thing — tea at noon"
        and len(second.splitlines()) == 64
    )
    assert (made.place.number, made.longterm[:5], made.recent[:5]) == (193, "said ", "said ")


def test_a_first_long_term_summary_that_gets_longer_is_the_short_one_as_it_was(
    tmp_path: Path,
) -> None:
    memories = life(tmp_path, 129)
    answers = ["It was longer ago.", "It was even longer ago.", "Lately."]
    model = Scripted(cascade=lambda prompt: answers.pop(0))
    recent = summary(1, 65, "Long ago.", memories)
    made = run(model, memories, task(memories, 65, 129, None, recent))
    assert (made.longterm, made.recent) == ("Long ago.", "Lately.")
    answers = ["It was longer ago than ever."] * 2
    old = summary(1, 9, "Once.", memories), summary(10, 65, "Long ago.", memories)
    with pytest.raises(ModelAway, match="longer than what it sums up"):
        run(model, memories, task(memories, 65, 129, *old))


def test_the_first_run_has_nothing_to_squash(tmp_path: Path) -> None:
    memories = life(tmp_path, 129)
    model = Scripted()
    made = run(model, memories, task(memories, 0, 65))
    assert (
        len(asked(model)) == 1 and made.longterm == "" and made.recent and made.place.number == 65
    )


def test_a_long_past_is_read_in_pieces_each_with_what_those_before_it_came_to(
    tmp_path: Path,
) -> None:
    memories = life(tmp_path, 200)
    model = Scripted(cascade=lambda prompt: f"Up to {prompt.text.splitlines()[-3].split()[3]}.")
    made = run(model, memories, task(memories, 0, 150))
    assert [(text.splitlines()[0], len(text.splitlines())) for text in asked(model)[1:]] == [
        ("Up to 65.", 66),
        ("Up to 130.", 21),
    ]
    assert made.recent == "Up to 150." and made.place.number == 150


def test_of_a_very_long_past_a_batch_is_read_and_the_next_run_goes_on_from_it(
    tmp_path: Path,
) -> None:
    memories = life(tmp_path, 2 * BATCH + 9)
    model = Scripted(cascade=lambda prompt: "So far.")
    old = summary(1, 2, "Long ago.", memories), summary(3, 4, "Lately.", memories)
    made = run(model, memories, task(memories, 4, 2 * BATCH + 8, *old, piece=2))
    assert made.place.number == 2 * BATCH + 4 and made.longterm == "" and len(asked(model)) == BATCH
    begun = Summary(5, made.place, NOON, "scripted", made.recent)
    done = run(model, memories, task(memories, 4, 2 * BATCH + 8, *old, begun=begun, piece=2))
    assert (
        done.place.number == 2 * BATCH + 8
        and asked(model)[BATCH] == "Long ago.\nLately."
        and len(asked(model)) == BATCH + 3
    )


def test_a_piece_that_is_too_much_for_the_window_is_halved_down_to_one_memory(
    tmp_path: Path,
) -> None:
    def answer(prompt: Prompt) -> str:
        sizes.append(len([line for line in prompt.text.splitlines() if " heard " in line]))
        if sizes[-1] > window:
            raise WindowExceeded("too much")
        return "So far."

    sizes = list[int]()
    window = 20
    memories = life(tmp_path, 70)
    made = run(Scripted(cascade=answer), memories, task(memories, 0, 65))
    assert sizes == [65, 32, 16, 16, 16, 16, 1] and made.place == memories.find(65)
    sizes = []
    window = 0
    with pytest.raises(WindowExceeded):
        run(Scripted(cascade=answer), memories, task(memories, 0, 5))
    assert sizes == [5, 2, 1]


def test_a_request_is_bounded_however_large_the_window_is(tmp_path: Path) -> None:
    memories = life(tmp_path, 1000, "x" * 90)
    model = Scripted(cascade=lambda prompt: "So far.")
    made = run(model, memories, task(memories, 0, 1000, piece=1000))
    assert made.place.number == 1000 and PIECE * 0.9 < max(map(len, asked(model))) <= PIECE + LIMIT


def test_secrets_reach_neither_the_model_nor_a_summary(tmp_path: Path) -> None:
    memories = life(tmp_path, 65, "the key is hunter2-hunter2")
    model = Scripted(cascade=lambda prompt: "I know hunter2-hunter2.")
    made = run(model, memories, task(memories, 0, 65))
    assert "hunter2" not in asked(model)[0] and made.recent == "I know [secret]."


def test_a_model_that_says_nothing_has_failed(tmp_path: Path) -> None:
    memories = life(tmp_path, 65)
    with pytest.raises(ModelAway, match="scripted had no summary"):
        run(Scripted(cascade=lambda prompt: " \n"), memories, task(memories, 0, 65))


def test_a_life_that_was_changed_behind_its_summaries_is_counted_anew(tmp_path: Path) -> None:
    memories = life(tmp_path, 200)
    begun = task(memories, 65, 129)
    life(tmp_path, 200, "the same past in other words")
    made = run(Scripted(), memories, begun)
    assert made.place == memories.find(129)


def test_what_is_too_long_is_cut_at_the_end_of_a_sentence() -> None:
    sentence = "She said: “It is 3.14, I think.” "
    cut = bounded(sentence * 100, LIMIT)
    assert LIMIT - len(sentence) <= len(cut) <= LIMIT and cut.endswith("I think.”")
    assert (
        bounded("She left. He st", LIMIT, cut=True) == "She left."
        and bounded("He st", LIMIT, cut=True) == "He st"
    )
    assert (
        len(bounded("word " * 1000, LIMIT)) <= LIMIT
        and bounded("One.\n\nTwo.", LIMIT) == "One. Two."
    )


@given(texts.map(lambda text: text * 20) | texts)
def test_whatever_a_model_says_is_one_bounded_line_that_forges_nothing(text: str) -> None:
    said = bounded(text, LIMIT)
    assert (
        len(said) <= LIMIT
        and said == " ".join(said.split())
        and not references.live(said)
        and "◱" not in said
    )
    assert all(left != right or left != " " for left, right in pairwise(said))
