"""Whatever stands in a file or on a command line: each parser returns a value, or one line that
says what is wrong.

What a parser makes of good input is tested next to its module; here is what holds for all input.
"""

import contextlib
import hashlib
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dory.cli import overview
from dory.cli.agent_options import parse
from dory.config import sources
from dory.config.settings import Config
from dory.errors import BlobError, ConfigError, FormatError
from dory.identity import context, state
from dory.identity.life import HEADING, Life
from dory.identity.state import Opened, Owed, RoomState, Running, State
from dory.storage.blobs import Blobs
from dory.storage.rooms import Rooms
from dory.text import formatting, redaction, references
from tests.identity.test_context import lives
from tests.support.fuzz import HASH, complaint, contents, fits, mutated, values, words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


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
    redacted = redaction.redact(text, sorted(secrets, key=len, reverse=True))
    assert not [secret for secret in secrets if secret in redacted]
    assert redacted == text or "[secret]" in redacted


FRONT = (
    '---\ndory: blob 1\nkind: text\nat: 2026-03-02T12:00:00.000000Z\ngist: "a gist"\n'
    f'parent: "{HASH}"\n---\nbody'
)


@given(contents | mutated(FRONT).map(lambda text: text.encode("utf-8", "replace")))
@example(FRONT.replace('"a gist"', "[" * 12_000).encode())
def test_a_blob_whose_namefits_is_read_or_refused_by_its_name(folder: Path, content: bytes) -> None:
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
    with complaint(ConfigError) as errors:
        config = sources.load(folder / "dory.yaml", environment, flags)
        for setting in fields(Config):
            assert fits(getattr(config, setting.name), setting.type)
        assert math.isfinite(config.temperature or 0)
        overview.settings_text(config).encode()
    assert not errors or [
        name
        for name in ("dory.yaml", "DORY_", "--", *(setting.name for setting in fields(Config)))
        if name in errors[0]
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
    errors = io.StringIO()
    with (
        contextlib.redirect_stderr(errors),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        parse(given)
    assert len(errors.getvalue().splitlines()) <= 1


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
        assert fits(loaded, State) and 0 < loaded.characters_per_token < math.inf
        state.save(folder / "state.json", loaded)
        assert state.load(folder / "state.json") == loaded
