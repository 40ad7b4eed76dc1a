"""Every parser on whatever may stand in a file, on the wire or on a command line: a value, or one
line of the house that says what is wrong.

What a parser makes of good input stands in the tests of its room; here is what holds for all input.
"""

import contextlib
import hashlib
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dory.cli import agent
from dory.config import command_line, settings
from dory.config.settings import Config
from dory.errors import BlobError, ConfigError, FormatError
from dory.identity import context, state
from dory.identity.context import Entry
from dory.identity.life import HEADING, Life
from dory.identity.state import Opened, Owed, RoomState, Running, State
from dory.llm import openai_format
from dory.storage.blobs import Blobs
from dory.storage.rooms import Rooms
from dory.text import formatting, references, tool_calls
from dory.turn import segments
from tests.identity.test_context import lives
from tests.support.household import NOON, texts
from tests.text.test_tool_calls import TOOLS

HASH = "5d41402abc4b2a76"
MONSTERS = [
    "9" * 5000,
    "[" * 12_000,
    "0x" + "f" * 5000,
    "1e999",
    "nan",
    "-1",
    "٣",
    "\ud800",
    "\x00",
]
"""What Python's own readers choke on: numbers of too many digits, nesting beyond its stack, what no
encoding holds.
"""

words = texts | st.sampled_from(MONSTERS) | st.text(max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
contents = st.binary(max_size=80) | (words | values.map(json.dumps)).map(
    lambda text: text.encode("utf-8", "replace")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@contextlib.contextmanager
def complaint(*kinds: type[Exception], naming: str = "") -> Iterator[list[str]]:
    """The block may raise these and no others, each one line, with ``naming`` in it; what was told
    is in the list then.
    """
    told: list[str] = []
    try:
        yield told
    except kinds as error:
        told.append(str(error))
        assert len(told[0].splitlines()) == 1 and naming in told[0]


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """``text`` with a piece of it replaced by another."""
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(words) + text[draw(st.integers(start, min(len(text), start + 12))) :]


@given(words, st.integers(0, 300))
def test_what_is_parsed_from_any_response_is_rendered_and_parsed_again_the_same(
    text: str, times: int
) -> None:
    """Repeated, the text shows what takes time that grows faster than its length."""
    for one in (text, text * times):
        calls = tool_calls.parse(one, TOOLS)
        assert all(len(call.error.splitlines()) == 1 for call in calls if call.error)
        whole = [call for call in calls if not call.error]
        assert tool_calls.parse(tool_calls.render(whole), TOOLS) == whole


@given(contents, st.integers(0, 90))
def test_any_bytes_are_lines_of_a_room_or_of_another_version(
    folder: Path, content: bytes, offset: int
) -> None:
    rooms = Rooms(folder)
    rooms.path("dev").write_bytes(content)
    with complaint(FormatError, naming="chats/dev.md"):
        lines = rooms.read("dev", 0)
        ends = [line.end for line in lines]
        assert ends == sorted(set(ends)) and (not ends or ends[-1] <= len(content))
        assert all(
            rooms.read("dev", line.end) == lines[number:] for number, line in enumerate(lines, 1)
        )
        assert rooms.recent("dev", 3) == lines[-3:] and rooms.unanswered("dev") in [0, *ends]
        rooms.read("dev", offset)


@given(lives().map(context.render).flatmap(mutated))
def test_a_text_is_refused_or_read_as_entries_that_stand_for_it_byte_for_byte(text: str) -> None:
    with complaint(FormatError, naming="context"):
        assert context.render(context.parse(text)) == text


@given(
    lives()
    .map(lambda entries: context.heading(7) + context.render(entries))
    .flatmap(mutated)
    .map(lambda text: text.encode("utf-8", "replace"))
)
@example(f"[dory-context 1 epoch {'9' * 5000}]\n".encode())
def test_a_context_file_is_refused_or_read_byte_for_byte(content: bytes) -> None:
    with complaint(FormatError, naming="context"):
        epoch, text = context.read_epoch(content)
        assert (context.heading(epoch) + context.render(context.parse(text))).encode() == content


@given(words, st.integers(1, 60))
def test_any_argument_names_a_hash_or_none_and_what_is_one_line_stays_so(
    text: str, limit: int
) -> None:
    assert re.fullmatch("[0-9a-f]{1,64}", references.named_hash(text) or HASH)
    assert references.named_hash(references.reference(HASH, text)) == HASH
    line = formatting.one_line(text, limit)
    assert formatting.one_line(line, limit) == line


@given(st.text("ab", max_size=40), st.lists(st.text("ab", min_size=8, max_size=20), max_size=3))
def test_no_secret_is_left_in_a_redacted_text(text: str, secrets: list[str]) -> None:
    redacted = formatting.redact(text, sorted(secrets, key=len, reverse=True))
    assert not [secret for secret in secrets if secret in redacted]
    assert redacted == text or "[secret]" in redacted


FRONT = f'---\ndory: blob 1\nkind: text\nat: 2026-03-02T12:00:00.000000Z\ngist: "a gist"\nparent: "{HASH}"\n---\nbody'


@given(contents | mutated(FRONT).map(lambda text: text.encode("utf-8", "replace")))
@example(FRONT.replace('"a gist"', "[" * 12_000).encode())
def test_a_blob_whose_name_fits_is_read_or_refused_by_its_name(
    folder: Path, content: bytes
) -> None:
    blobs, hash = Blobs(folder / "blobs"), hashlib.sha256(content).hexdigest()[:16]
    blobs.path(hash).parent.mkdir(parents=True, exist_ok=True)
    blobs.path(hash).write_bytes(content)
    with complaint(BlobError, FormatError, naming=hash):
        blob = blobs.get(hash)
        assert (
            isinstance(blob.gist, str)
            and isinstance(blob.parent, str | None)
            and content.endswith(blob.body.encode())
        )


@given(contents, st.binary(max_size=30), st.integers(1, 5))
def test_any_bytes_are_a_log_of_which_the_newest_lines_are_shown_or_another_version(
    folder: Path, content: bytes, torn: bytes, keep: int
) -> None:
    path = folder / "LIFE.md"
    for heading in (b"", HEADING.encode()):
        path.write_bytes(heading + content + b"\n" + torn)
        with complaint(FormatError, naming="LIFE.md"):
            life = Life(path, keep)
            whole = [
                line
                for line in path.read_bytes().split(b"\n")[1:-1]
                if not line.startswith(b"[dory-life")
            ]
            assert life.tail(keep) == "".join(
                line.decode("utf-8", "replace") + "\n" for line in whole[-keep:]
            )


names = st.sampled_from([one.name for one in fields(Config)])
odd = st.sampled_from(
    [
        "no",
        "4.5",
        "2026-13-45",
        "!!int ''",
        "[a, b]",
        "&a [*a]",
        "*a",
        '"\\UFFFFFFFF"',
        '"\\ud800"',
        "1e300",
    ]
)
LAUGHS = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
"""A list that is short as it stands and has millions of values when it is shown."""
written = odd | words | values.map(json.dumps)


@given(
    st.lists(st.builds("{}: {}".format, names | words, written), max_size=3).map("\n".join) | words,
    st.dictionaries((names | words).map(lambda name: f"DORY_{name.upper()}"), written, max_size=2),
    st.dictionaries(names, st.integers() | st.floats() | words, max_size=2),
)
@example(f"a: &a [x, x]\n{LAUGHS}name: *h", {}, {})
@example(f"name: &a [x, x]\n{LAUGHS}", {}, {})
@example("", {"DORY_MODEL": "\udcff", "OPENAI_API_KEY": "sk-1"}, {})
def test_any_settings_are_settings_or_one_line_that_says_which_is_wrong(
    folder: Path, text: str, environment: dict[str, str], flags: dict[str, Any]
) -> None:
    (folder / "dory.yaml").write_bytes(text.encode("utf-8", "replace"))
    with complaint(ConfigError) as told:
        found = settings.load(folder / "dory.yaml", environment, flags)
        for one in fields(Config):
            assert _fits(getattr(found, one.name), one.type)
        assert math.isfinite(found.temperature or 0)
        agent.settings_listing(found).encode()
    assert not told or [
        name
        for name in ("dory.yaml", "DORY_", "--", *(one.name for one in fields(Config)))
        if name in told[0]
    ]


@given(
    st.lists(
        words
        | st.sampled_from(
            ["--list", "--room", "--context-limit", "--timeout=x", "--no\nsuch", "--contextlimit"]
        ),
        max_size=4,
    )
)
def test_any_command_line_is_understood_or_answered_with_one_line(given: list[str]) -> None:
    told = io.StringIO()
    with (
        contextlib.redirect_stderr(told),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        command_line.parser().parse_args(given)
    assert len(told.getvalue().splitlines()) <= 1


STATE = State(
    name="dory",
    parent=HASH,
    texts={"SEGMENT.md": HASH},
    rooms={"dev": RoomState(1, 2, 3)},
    running=Running(HASH, 1, "mark"),
    owed=Owed("dev", "text", 3),
    opened={"3": Opened(HASH, "gist", "summary", 7)},
    last_swap=[1, 4],
)


@given(contents)
@example(b"[" * 12_000)
def test_any_bytes_are_a_state_or_damage(folder: Path, content: bytes) -> None:
    (folder / "state.json").write_bytes(content)
    with complaint(FormatError, naming="state.json"):
        state.load(folder / "state.json")


def _ways(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a JSON value."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in inside:
        yield (*way, key)
        yield from _ways(inner, (*way, key))


@given(st.sampled_from([*_ways(asdict(STATE))]), values)
def test_a_state_with_one_value_changed_is_damage_or_as_good_as_any(
    folder: Path, way: tuple[Any, ...], value: Any
) -> None:
    content: Any = {"version": 1, **asdict(STATE)}
    inner = content
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = value
    (folder / "state.json").write_text(json.dumps(content))
    with complaint(FormatError, naming="state.json"):
        loaded = state.load(folder / "state.json")
        assert _fits(loaded, State) and 0 < loaded.characters_per_token < math.inf
        state.save(folder / "state.json", loaded)
        assert state.load(folder / "state.json") == loaded


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of the type that an annotation names, all the way down."""
    if get_origin(kind) is UnionType:
        return any(_fits(value, one) for one in get_args(kind))
    if get_origin(kind) is dict:
        return type(value) is dict and all(
            type(key) is str and _fits(inner, get_args(kind)[1]) for key, inner in value.items()
        )
    if get_origin(kind) in (list, tuple):
        inner = (
            get_args(kind)
            if get_origin(kind) is tuple and Ellipsis not in get_args(kind)
            else get_args(kind)[:1] * len(value)
        )
        return (
            type(value) is get_origin(kind)
            and len(value) == len(inner)
            and all(map(_fits, value, inner))
        )
    return type(value) is kind and (
        not is_dataclass(kind)
        or all(_fits(getattr(value, one.name), one.type) for one in fields(kind))
    )


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
        found = segments.read_ranges(answer, runs)
        places = {
            entry.first: (number, place)
            for number, run in enumerate(runs)
            for place, entry in enumerate(run)
        }
        for chunk in found:
            run, start = places[chunk[0].first]
            assert tuple(runs[run][start : start + len(chunk)]) == chunk
        ids = [entry.first for chunk in found for entry in chunk]
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
    for one in pieces:
        answer.add(one)
        assert (
            openai_format.words(one).strip() == openai_format.words(one)
            and 100 <= openai_format.status(one) <= 599
            and openai_format.too_long(one) in (True, False)
        )
        assert openai_format.without_complaint(
            {"max_tokens": 9, "stream_options": {}}, str(one)
        ) != {"max_tokens": 9, "stream_options": {}}
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
