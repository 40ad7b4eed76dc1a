"""Whatever a model or its endpoint sends: each parser returns a value, or one line that says what
is wrong.
"""

import math
from collections.abc import Sequence
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from dory.identity import context
from dory.identity.context import Entry
from dory.llm import openai_format
from dory.llm.dialect import Dialect
from dory.text import answers, formatting, tool_calls
from dory.turn import segments
from tests.identity.test_context import lives
from tests.support.fuzz import HASH, complaint, scalars, words
from tests.support.household import NOON
from tests.text.test_tool_calls import TOOLS


@given(words, st.integers(0, 300))
def test_what_is_parsed_from_any_response_is_rendered_and_parsed_again_the_same(
    text: str, times: int
) -> None:
    """Repeated, the text shows what takes time that grows faster than its length."""
    for response in (text, text * times):
        calls = answers.parse(response, TOOLS).calls
        assert all(len(call.error.splitlines()) == 1 for call in calls if call.error)
        whole = [call for call in calls if not call.error]
        assert list(answers.parse(tool_calls.render(whole), TOOLS).calls) == whole


@st.composite
def eligible(draw: st.DrawFn) -> list[Sequence[Entry]]:
    """Runs of entries as a compaction takes them up, with gaps where something is pinned."""
    entries = draw(lives().filter(bool))
    cuts = sorted(draw(st.sets(st.integers(1, len(entries)), max_size=2)))
    runs = [
        entries[start:end] for start, end in zip([0, *cuts], [*cuts, len(entries)], strict=True)
    ]
    return [run for run in runs if run]


ranges = st.lists(
    st.builds("{}-{} part".format, st.integers(0, 40), st.integers(0, 40))
    | st.integers(0, 40).map(str)
    | words,
    max_size=4,
)


@given(eligible(), ranges.map("\n".join))
@example([[Entry(1, 1, "heard", "dev", "a")], [Entry(3, 3, "heard", "dev", "c")]], "2")
def test_any_answer_names_chunks_that_are_stretches_of_what_may_go_or_says_what_is_wrong(
    runs: list[Sequence[Entry]], answer: str
) -> None:
    with complaint(ValueError):
        chunks = segments.read_ranges(answer, runs)
        places = {
            entry.first: (number, place)
            for number, run in enumerate(runs)
            for place, entry in enumerate(run)
        }
        for chunk in chunks:
            run, start = places[chunk[0].first]
            assert tuple(runs[run][start : start + len(chunk)]) == chunk
        ids = [entry.first for chunk in chunks for entry in chunk]
        assert ids and ids == sorted(set(ids))


lines = st.builds(
    "{}:{}".format,
    st.sampled_from(["GIST", "**Gist**", "RELEVANCE", "SUMMARY", "- SUMMARY"]),
    st.integers().map(str) | words,
)


@given(st.lists(lines | words, max_size=6).map("\n".join))
@example("GIST: a" + " " * 12_000 + "b\nRELEVANCE" + ":" * 12_000 + "\nSUMMARY: x")
def test_any_answer_is_a_summary_that_can_stand_in_the_context_or_says_what_is_wrong(
    answer: str,
) -> None:
    with complaint(ValueError):
        draft = segments.read_summary(answer, (Entry(1, 1, "heard", "dev", "hello"),))
        assert (
            1 <= draft.relevance <= 10
            and draft.gist
            and draft.gist == formatting.one_line(draft.gist)
        )
        entry = context.compacted(1, 1, HASH, draft.gist, draft.summary)
        assert context.parse(entry.text) == [entry]


keys = st.sampled_from(
    [
        "choices",
        "delta",
        "message",
        "content",
        "reasoning",
        "usage",
        "prompt_tokens",
        "error",
        "code",
        "metadata",
    ]
)
pieces = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
streamed = pieces | pieces.map(
    lambda content: {"choices": [{"delta": {"content": content}, "finish_reason": content}]}
)


@given(st.lists(streamed, max_size=4))
def test_whatever_an_endpoint_streams_its_answer_is_text_that_can_be_stored(
    pieces: list[Any],
) -> None:
    answer = openai_format.Answer()
    for piece in pieces:
        answer.add(piece)
        assert (
            openai_format.words(piece).strip() == openai_format.words(piece)
            and 100 <= openai_format.status(piece) <= 599
            and openai_format.too_long(piece) in (True, False)
        )
        options = {"max_tokens": 900, "stream_options": {}, "stop": ["x"]}
        if learned := Dialect().after(options, str(piece)):
            assert learned.spoken(options) != options
    for part in answer.parts():
        assert part.encode().decode() == part
    sent, cached, received = openai_format.counts(answer.usage, "prompt", "answer")
    assert min(sent, received, cached or 0) >= 0


dates = st.builds(
    "{}, {} Jan {} {}:00:00 {}".format,
    st.sampled_from(["Mon", ""]),
    st.integers(),
    st.integers(),
    st.integers(0, 30),
    words,
)


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms"]), words | dates | st.floats().map(str)
    )
)
def test_any_header_asks_for_a_pause_that_can_be_made_or_for_none(headers: dict[str, str]) -> None:
    pause = openai_format.requested_pause(headers, NOON)
    assert pause is None or 0 <= pause < math.inf
