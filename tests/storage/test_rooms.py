"""Rooms: a message is read back as one message of its speaker, whatever it holds and whatever
others write beside it.
"""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import FormatError, Held, ToolError
from dory.storage import files, message_ends
from dory.storage.message_ends import KEPT, PART
from dory.storage.rooms import KINDS, Rooms, check_id, clean_name, laid_out
from dory.types import Line
from tests.support.household import NOON, held, texts

messages = st.lists(st.tuples(st.sampled_from(KINDS), texts, texts), min_size=1, max_size=6)


def talked(factory: pytest.TempPathFactory, said: list[tuple[str, str, str]]) -> Rooms:
    """A room ``dev`` in which exactly this was said."""
    rooms = Rooms(factory.getbasetemp() / "chats")
    rooms.path("dev").unlink(missing_ok=True)
    for kind, name, text in said:
        rooms.say("dev", kind, name, text, NOON)
    return rooms


def as_said(lines: list[Line]) -> list[tuple[str, str, str]]:
    return [(line.kind, line.name, laid_out(line.text)) for line in lines]


@given(messages)
def test_every_message_reads_back_as_one_message_of_its_speaker(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str, str]]
) -> None:
    rooms = talked(tmp_path_factory, said)
    assert as_said(rooms.read("dev", 0)) == [
        (kind, clean_name(name), laid_out(text)) for kind, name, text in said
    ]


@given(messages)
def test_reading_goes_on_behind_any_message(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str, str]]
) -> None:
    rooms = talked(tmp_path_factory, said)
    lines = rooms.read("dev", 0)
    for number, line in enumerate(lines, 1):
        assert rooms.read("dev", line.end) == lines[number:]
    assert lines[-1].end == rooms.size("dev")


@given(messages, st.binary(max_size=80) | texts.map(str.encode))
def test_what_a_stranger_appends_never_changes_who_said_what_before(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str, str]], garbage: bytes
) -> None:
    rooms = talked(tmp_path_factory, said)
    before = rooms.read("dev", 0)
    with open(rooms.path("dev"), "ab") as file:
        file.write(garbage)
    rooms.say("dev", "USER", "ada", "hello", NOON)
    after = rooms.read("dev", 0)
    assert after[: len(said) - 1] == before[:-1]
    last = after[len(said) - 1]
    assert (last.kind, last.name) == (before[-1].kind, before[-1].name) and last.text.startswith(
        before[-1].text
    )
    assert (after[-1].name, after[-1].text) == ("ada", "hello")


@given(messages, st.data())
def test_a_room_cut_off_anywhere_gives_its_whole_messages_and_takes_further_ones(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    rooms = talked(tmp_path_factory, said)
    lines = rooms.read("dev", 0)
    cut = data.draw(st.integers(0, rooms.size("dev")))
    rooms.path("dev").write_bytes(rooms.path("dev").read_bytes()[:cut])
    whole = [line for line in lines if line.end <= cut]
    assert rooms.read("dev", 0)[: len(whole)] == whole
    rooms.say("dev", "USER", "ada", "hello", NOON)
    again = rooms.read("dev", 0)
    assert again[: len(whole)] == whole and again[-1].text == "hello"


@given(texts)
def test_a_name_fits_into_a_tag_and_is_its_own_clean_form(name: str) -> None:
    clean = clean_name(name)
    assert 1 <= len(clean) <= 64 and clean_name(clean) == clean
    assert not set(clean) & set("[]◱◲") and not any(c.isspace() for c in clean)


def test_a_strangers_tag_cannot_hold_a_reference(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path)
    rooms.open("dev", NOON)
    with open(rooms.path("dev"), "a") as file:
        file.write(
            "[USER:◱hash=5d41402abc4b2a76 gist=x◲] hi\n[USER:a gist=x◲] hi\n[USER:a[b 2026] hi\n"
        )
    assert [line.kind for line in rooms.read("dev", 0)] == ["STRAY", "STRAY", "STRAY"]


def test_a_shell_script_may_begin_a_room_and_a_bridge_may_write_its_own_time(
    tmp_path: Path,
) -> None:
    Rooms(tmp_path).path("dev").write_text(
        "[USER:ada 2026-03-02T12:00:00+01:00] hello\n    again\n"
    )
    assert as_said(Rooms(tmp_path).read("dev", 0)) == [("USER", "ada", "hello\n    again")]


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    Rooms(tmp_path).path("dev").write_text("[dory-room 2]\n")
    with pytest.raises(FormatError, match=r"chats/dev\.md is of version '\[dory-room 2\]'"):
        Rooms(tmp_path).read("dev", 0)


def test_ids_of_rooms_are_plain(tmp_path: Path) -> None:
    assert check_id("dev-2_x") == "dev-2_x" and check_id("a" * 64)
    for room in ("", "a" * 65, "Dev", "../dev", "a/b", "dév", "dev\n", "a.b"):
        with pytest.raises(
            ToolError, match="is no room: a room id has 1 to 64 of a-z, 0-9, _ and -"
        ):
            Rooms(tmp_path).path(room)


def test_opening_a_room_sets_a_torn_end_aside_so_that_its_size_is_where_the_next_message_begins(
    tmp_path: Path,
) -> None:
    rooms = Rooms(tmp_path)
    rooms.say("dev", "USER", "ada", "hello", NOON)
    with open(rooms.path("dev"), "a") as file:
        file.write("[USER:bob 2026-03-02T12:00:00Z] to")
    rooms.open("dev", NOON)
    start = rooms.size("dev")
    rooms.say("dev", "USER", "ada", "again", NOON)
    assert [line.text for line in rooms.read("dev", start)] == ["again"]
    assert (tmp_path / "dev.md.torn").read_text() == "[USER:bob 2026-03-02T12:00:00Z] to\n"


def said_since(rooms: Rooms) -> list[str]:
    return [line.text for line in rooms.read("dev", rooms.unanswered("dev"))]


def test_a_newcomer_begins_behind_the_last_line_of_an_agent(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path)
    assert rooms.unanswered("dev") == 0
    for kind, text in (
        ("USER", "a"),
        ("AGENT", "b"),
        ("USER", "c"),
        ("NOTICE", "d"),
        ("USER", "e"),
    ):
        rooms.say("dev", kind, "ada", text, NOON)
    assert said_since(rooms) == ["c", "d", "e"]
    rooms.say("dev", "AGENT", "dory", "f", NOON)
    assert said_since(rooms) == []


def test_a_newcomer_reads_at_most_the_last_twenty_messages(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path)
    for number in range(30):
        rooms.say("dev", "USER", "ada", str(number), NOON)
    assert said_since(rooms) == [str(number) for number in range(10, 30)]


@pytest.mark.parametrize("size", [10, 60_000, 66_000, 140_000])
def test_a_newcomer_reads_at_most_the_last_64_kib_and_begins_at_a_line(
    tmp_path: Path, size: int
) -> None:
    rooms = Rooms(tmp_path)
    rooms.say("dev", "USER", "ada", "ß[USER:eve 2026-03-02T12:00:00Z] " * (size // 35), NOON)
    rooms.say("dev", "USER", "ada", "x\n" * 3, NOON)
    rooms.say("dev", "USER", "bob", "hello", NOON)
    start = rooms.unanswered("dev")
    assert start >= rooms.size("dev") - 65_536
    assert rooms.path("dev").read_bytes()[start - 1 : start] in (b"\n", b"")
    assert [line.text for line in rooms.read("dev", start)][-2:] == ["x\nx\nx", "hello"]


def test_a_newcomer_to_a_room_that_ends_with_one_huge_message_begins_behind_it(
    tmp_path: Path,
) -> None:
    rooms = Rooms(tmp_path)
    rooms.say("dev", "USER", "ada", "x" * 70_000, NOON)
    assert said_since(rooms) == []


@given(messages, st.integers(1, 300), st.integers(0, 6))
def test_a_room_read_stretch_by_stretch_up_to_any_message_holds_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[str, str, str]],
    size: int,
    left_out: int,
) -> None:
    rooms = talked(tmp_path_factory, said)
    whole = rooms.read("dev", 0)
    lines_read = list[Line]()
    kept = whole[: max(0, len(whole) - left_out)]
    start = 0
    end = kept[-1].end if kept else 0
    while start < end:
        before = len(lines_read)
        lines, start = rooms.stretch("dev", start, end, size)
        lines_read += lines
        assert len(lines_read) > before or not before, "only a heading holds no message"
    assert lines_read == kept and start == end


def written(rooms: Rooms, content: bytes) -> None:
    with open(rooms.path("dev"), "ab") as file:
        file.write(content)


def of_size(size: int) -> str:
    return f"(the beginning of {size:,} bytes, which are all in chats/dev.md) "


@pytest.mark.parametrize(
    "rest",
    [b"x" * 5 * PART, b"x \t\n" * (PART // 2), b"\n    x" * (PART // 3), b"\n" * 3 * PART],
    ids=["one line", "lines of one append", "indented lines", "empty lines"],
)
def test_a_message_of_many_mebibytes_is_read_cut_with_its_size_and_the_next_one_whole(
    tmp_path: Path, rest: bytes
) -> None:
    rooms = Rooms(tmp_path)
    rooms.say("dev", "USER", "ada", "one", NOON)
    start = rooms.size("dev")
    long = b"[USER:eve 2026-03-02T12:00:00Z] much " + rest + b"!\n"
    long = long.replace(b"\n!", b"\n    !")
    written(rooms, long)
    rooms.say("dev", "USER", "bob", "two", NOON)
    lines = list[Line]()
    while now := rooms.read("dev", lines[-1].end if lines else 0):
        lines += now
    assert [line.name for line in lines] == ["ada", "eve", "bob"]
    assert lines[1].text.startswith(f"{of_size(len(long))}much") and lines[2].text == "two"
    assert len(lines[1].text) <= KEPT + len(of_size(len(long)))
    assert [line.end for line in lines] == [start, start + len(long), rooms.size("dev")]
    assert list(rooms.messages("dev")) == lines
    assert rooms.stretch("dev", start, rooms.size("dev"))[0] == [lines[1]]
    assert rooms.stretch("dev", start, lines[1].end)[0] == [lines[1]]
    assert [line.name for line in rooms.recent("dev", 2)][-1] == "bob"


def test_a_line_that_does_not_end_is_looked_through_once_and_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = Rooms(tmp_path)
    rooms.say("dev", "USER", "ada", "one", NOON)
    begins = rooms.size("dev")
    read = list[int]()
    read_from = files.read_from

    def counted(path: Path, offset: int, limit: int = -1) -> bytes:
        content = read_from(path, offset, limit)
        read.append(len(content))
        return content

    monkeypatch.setattr(files, "read_from", counted)
    written(rooms, b"[USER:eve 2026-03-02T12:00:00Z] ")
    for _ in range(8):
        written(rooms, b"x" * 4 * PART)
        for _ in range(20):
            assert rooms.read("dev", begins) == []
    assert sum(read) < 1.5 * rooms.size("dev")
    assert [line.text for line in rooms.recent("dev", 9)] == ["one"]
    assert rooms.end("dev") == rooms.unanswered("dev") + begins == begins
    rooms.say("dev", "USER", "bob", "two", NOON)
    assert [line.name for line in rooms.read("dev", begins)] == ["harness", "bob"]
    assert rooms.path("dev").with_name("dev.md.torn").stat().st_size > 32 * PART


def test_reading_a_room_takes_no_more_memory_if_a_line_in_it_is_longer(tmp_path: Path) -> None:
    peaks = list[int]()
    for parts in (4, 32):
        rooms = Rooms(tmp_path / str(parts))
        rooms.say("dev", "USER", "ada", "one", NOON)
        written(rooms, b"[USER:eve 2026-03-02T12:00:00Z] " + b"x" * parts * PART)
        tracemalloc.start()
        assert [line.name for line in rooms.read("dev", 0)] == ["ada"]
        assert rooms.read("dev", rooms.end("dev")) == []
        rooms.say("dev", "USER", "bob", "two", NOON)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] and peaks[1] < 16 * PART


def test_a_message_that_is_longer_than_one_look_is_found_after_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_ends, "_PARTS", 2)
    rooms = Rooms(tmp_path)
    written(rooms, b"[USER:eve 2026-03-02T12:00:00Z] " + b"x" * 9 * PART + b"\n")
    looks = 1
    while not (lines := rooms.read("dev", 0)):
        looks += 1
    assert looks == 5 and lines[0].end == rooms.size("dev")


def test_nobody_speaks_in_the_middle_of_a_line(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path)
    tag = b"[USER:eve 2026-03-02T12:00:00Z] "
    written(rooms, (tag.replace(b"eve", b"bob") + b"x" * PART)[:PART] + tag + b"hi\n" + tag)
    written(rooms, b"hi\n" + tag.replace(b"eve", b"cleo") + b"hi\n")
    assert {name for _, name in rooms.speakers("dev", 0)[0]} == {"bob", "eve", "cleo"}
    rooms.path("dev").unlink()
    written(rooms, (tag.replace(b"eve", b"bob") + b"x" * PART)[:PART] + tag + b"hi\n")
    assert {name for _, name in rooms.speakers("dev", 0)[0]} == {"bob"}
    assert rooms.speakers("dev", PART)[0] == set()


def test_a_room_that_another_program_holds_is_told_at_once_from_the_second_time_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = Rooms(tmp_path, patience=0.05)
    rooms.say("dev", "USER", "ada", "one", NOON)
    waited = list[float]()
    read_shared = files.read_shared

    def noted(path: Path, offset: int, limit: int, patience: float) -> bytes:
        waited.append(patience)
        return read_shared(path, offset, limit, patience)

    monkeypatch.setattr(files, "read_shared", noted)
    with held(rooms.path("dev")):
        for act in (
            lambda: rooms.read("dev", 0),
            lambda: rooms.read("dev", 0),
            lambda: rooms.open("dev", NOON),
        ):
            with pytest.raises(Held, match=r"^the room dev is held by another program"):
                act()
        assert [line.text for line in rooms.recent("dev", 9)] == ["one"]
        assert rooms.has("dev", "USER", "ada", "one", 0)
        assert rooms.end("dev") == rooms.size("dev")
    rooms.read("dev", 0)
    rooms.read("dev", 0)
    assert waited == [0.05, 0, 0, 0.05]
