"""The live context: entries read back from the file as they were, ids only rise, and a compaction
may touch only the older two thirds.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import FormatError
from dory.identity import context
from dory.identity.context import Context, Entry
from dory.text import formatting, references
from tests.support.household import texts

KINDS = ["notice", "heard", "response", "result", "error", "compacted", "uncompacted"]
HASH = "5d41402abc4b2a76"
about = texts.map(formatting.one_line)


@st.composite
def lives(draw: st.DrawFn) -> list[Entry]:
    """Entries as a life makes them: rising ids, some that cover several, any escaped bodies."""
    entries: list[Entry] = []
    for _ in range(draw(st.integers(0, 8))):
        first = (entries[-1].last if entries else 0) + draw(st.integers(1, 3))
        last = first + draw(st.integers(0, 5))
        entries.append(
            Entry(
                first,
                last,
                draw(st.sampled_from(KINDS)),
                draw(about),
                references.escape(draw(texts)),
            )
        )
    return entries


def of_sizes(*sizes: int) -> list[Entry]:
    """Entries whose texts have exactly these sizes."""
    entries = [Entry(number, number, "heard", "dev", "") for number in range(1, len(sizes) + 1)]
    return [
        Entry(entry.first, entry.last, entry.kind, entry.about, "x" * (size - len(entry.text)))
        for entry, size in zip(entries, sizes, strict=True)
    ]


@given(lives())
def test_rendered_entries_parse_back(entries: list[Entry]) -> None:
    assert context.parse(context.render(entries)) == entries


@given(lives())
def test_a_context_file_holds_its_epoch_and_its_entries(entries: list[Entry]) -> None:
    content = (context.heading(7) + context.render(entries)).encode()
    epoch, text = context.read_epoch(content)
    assert epoch == 7 and context.parse(text) == entries


@given(lives(), st.data())
def test_a_slice_of_a_context_parses_to_that_slice_of_entries(
    entries: list[Entry], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(entries)))
    assert context.parse(context.render(entries[start:])) == entries[start:]


@given(texts, texts)
def test_a_compacted_entry_stands_for_its_blob_whatever_its_gist_and_summary_hold(
    gist: str, summary: str
) -> None:
    entry = context.compacted(3, 9, HASH, gist, summary)
    assert context.parse(entry.text) == [entry]
    assert (entry.ids, entry.hash, entry.gist) == ("3-9", HASH, formatting.one_line(gist))
    assert references.live(entry.text) == [(HASH, entry.gist)]
    assert Context([entry]).summary_of(HASH) == summary


@pytest.mark.parametrize(
    "text",
    [
        "hello\n",
        "[#1 heard dev]\n",
        "[#1 heard dev]\nbody",
        "[#1 heard dev\nbody\n",
        "[#x heard dev]\nbody\n",
        "[#3-2 heard dev]\nbody\n",
        "[#2 heard dev]\na\n[#2 heard dev]\nb\n",
        "[#2-5 heard dev]\na\n[#4 heard dev]\nb\n",
        "\n[#1 heard dev]\na\n",
    ],
)
def test_a_damaged_context_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="the context"):
        context.parse(text)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[#1 heard dev]\na\n",
        b"[dory-context 2 epoch 1]\n",
        b"[dory-context 1 epoch 1]",
        b"[dory-context 1 epoch 1]\n\xff",
    ],
)
def test_a_context_file_of_another_version_is_refused(content: bytes) -> None:
    with pytest.raises(FormatError, match=r"context\.md"):
        context.read_epoch(content)


def test_neighbouring_entries_are_replaced_and_others_are_not() -> None:
    live = Context(of_sizes(20, 20, 20, 20))
    first, second, third, fourth = live.entries
    summary = context.compacted(2, 3, HASH, "gist", "")
    live.replace([second, third], [summary])
    assert live.entries == [first, summary, fourth]
    for wrong in ([first, fourth], [second]):
        with pytest.raises(ValueError):
            live.replace(wrong, [])
    assert live.entries == [first, summary, fourth]


def test_the_text_of_a_context_follows_every_change() -> None:
    live = Context(of_sizes(20, 30))
    sizes = [live.characters]
    live.add(Entry(3, 3, "heard", "dev", "hello"))
    sizes.append(live.characters)
    live.replace(live.entries[:2], [context.compacted(1, 2, HASH, "gist", "short")])
    assert live.text == context.render(live.entries) == "".join(entry.text for entry in live)
    assert [*sizes, live.characters] == [
        50,
        50 + len("[#3 heard dev]\nhello\n"),
        sum(entry.size for entry in live),
    ]


def test_the_newest_entry_that_stands_for_a_blob_is_found() -> None:
    old = context.compacted(1, 2, HASH, "old", "old")
    new = context.compacted(3, 4, HASH, "new", "new")
    live = Context([old, new, Entry(5, 5, "result", references.reference(HASH, "no"), "")])
    assert live.find(HASH, "compacted") is new
    assert live.find(HASH, "uncompacted") is None
    assert live.summary_of("0" * 16) is None


@pytest.mark.parametrize(
    ("sizes", "pinned", "wanted"),
    [
        ((30, 30, 30), (), [[1, 2]]),
        ((30, 31, 30), (), [[1]]),
        ((90, 30), (), []),
        ((30, 30, 30, 30, 30, 30), (2,), [[1], [3, 4]]),
        ((30, 30, 30, 30, 30, 30), (1, 2, 3, 4), []),
        ((), (), []),
    ],
)
def test_a_compaction_may_touch_what_lies_within_the_first_two_thirds_but_for_pinned_entries(
    sizes: Sequence[int], pinned: Sequence[int], wanted: list[list[int]]
) -> None:
    assert [
        [entry.first for entry in run] for run in context.eligible(of_sizes(*sizes), pinned)
    ] == wanted
