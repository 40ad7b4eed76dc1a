"""Properties of the offline model that hold whatever its prompt contains."""

from hypothesis import assume, given
from hypothesis import strategies as st

from dory.identity.context import Entry
from dory.offline import OfflineModel
from dory.offline.prompt_reader import TOOLS
from dory.text import answers, references
from dory.turn.segments import read_ranges, read_summary
from dory.types import Message, Prompt
from tests.support.toy_life import AT, prompt

HASHES = ("5d41402abc4b2a76", "7d793037a0760186", "098f6bcd4621d373")
WORDS = st.sampled_from(
    [
        "the",
        "code",
        "is",
        "my",
        "cat",
        "Miso",
        "7",
        "hotel",
        "◱",
        "<<END",
        "[#3 heard dev]",
        "\n",
        "=======",
        "```",
        "\\",
        "?",
        ".",
    ]
)
WISHES = st.sampled_from(
    [
        "",
        "make a note: ",
        "remember that ",
        "forget ",
        "read a/",
        "what is ",
        "hello ",
        "call me ",
        "dory-1a2b3c4d ",
    ]
)
TALK = st.builds(
    lambda wish, words: wish + " ".join(words), WISHES, st.lists(WORDS, max_size=12)
) | st.text(max_size=40)
RESPONSES = st.sampled_from(
    [
        f"UNCOMPACT {HASHES[0]}",
        "READ_FILE a/code",
        "SAY dev hi",
        "WAIT",
        f"SAY lab x\nUNCOMPACT {HASHES[1]}",
        "RECALL code",
        "<reasoning>",
        "",
    ]
)
HITS = f"""1. heard 2026-03-02 09:31 ada in dev, score 7.1: the code -> UNCOMPACT {HASHES[1]} (Ada)
2. note 2026-03-02 09:32, score 5.0: the code -> NOTE_READ code"""
ABOUTS = {
    "result": "READ_FILE a/code",
    "error": "EDIT_FILE MEMORY.md",
    "notice": "2026-11-21 07:38",
    "response": "2026-11-21 07:38",
}


@st.composite
def entry(draw: st.DrawFn) -> tuple[str, str, str]:
    """(kind, about, body) as the harness writes it."""
    kind = draw(
        st.sampled_from(
            [
                "heard",
                "heard",
                "heard",
                "response",
                "compacted",
                "uncompacted",
                "result",
                "error",
                "notice",
                "later",
            ]
        )
    )
    text = references.escape(draw(RESPONSES if kind == "response" else TALK))
    if kind == "heard":
        speaker = draw(st.sampled_from(["USER:ada", "USER:bob", "AGENT:dory-99"]))
        return (
            kind,
            draw(st.sampled_from(["dev", "lab"])),
            f"[{speaker} {AT}] " + text.replace("\n", "\n    "),
        )
    if kind in ("compacted", "uncompacted"):
        inner = (
            Entry(1, 2, "compacted", references.reference(HASHES[2], draw(TALK)), text).text
            if kind == "uncompacted"
            else text
        )
        return (
            kind,
            references.reference(draw(st.sampled_from(HASHES)), draw(TALK)),
            references.quote(inner),
        )
    if kind == "result" and draw(st.booleans()):
        return kind, "RECALL code", references.escape(f"2 hits\n{HITS}\n{draw(TALK)}")
    return kind, ABOUTS.get(kind, "x"), text


ENTRIES = st.lists(entry(), max_size=20).map(
    lambda drawn: [Entry(at + 1, at + 1, *fields) for at, fields in enumerate(drawn)]
)


@given(ENTRIES, TALK)
def test_its_tool_lines_parse_and_name_only_rooms_and_references_of_the_prompt(
    entries: list[Entry], memory: str
) -> None:
    asked = prompt(*entries, memory=memory, tools=TOOLS)
    reply = OfflineModel().complete(asked, "turn")
    again = OfflineModel().complete(asked, "turn")
    assert (reply.text, reply.reasoning) == (again.text, again.reasoning)
    calls = answers.parse(reply.text, TOOLS).calls
    assert calls and not any(call.error for call in calls)
    for call in calls:
        assert call.tool != "SAY" or call.args.split(" ")[0] in ("dev", "lab")
        assert call.tool != "UNCOMPACT" or call.args in asked.text
        for search, _ in call.edits:
            assert not search or memory.count(search) == 1


@given(ENTRIES, TALK)
def test_a_compaction_can_always_read_its_answers(entries: list[Entry], memory: str) -> None:
    assume(entries)
    asked = prompt(*entries, memory=memory)
    answer = OfflineModel().complete(
        asked.fork(f"[#segment 1-{len(entries)}]\nName the chunks."), "segment"
    )
    chunks = read_ranges(answer.text, [entries])
    assert chunks
    for chunk in chunks:
        request = asked.fork(f"[#summarise {chunk[0].first}-{chunk[-1].last}]\nSummarise.")
        assert (
            read_summary(OfflineModel().complete(request, "summarise").text, chunk).entries == chunk
        )


@given(
    st.lists(
        st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.text() | TALK),
        max_size=3,
    )
)
def test_any_text_at_all_gets_an_answer(messages: list[Message]) -> None:
    assert OfflineModel().complete(Prompt(tuple(messages)), "turn").text
