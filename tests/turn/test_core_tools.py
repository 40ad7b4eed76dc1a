"""The core tool lines: each does what it says, or changes nothing and says in one line what to do
instead.
"""

import errno
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from dory.config.settings import Config
from dory.constants import MEMORY_LIMIT, PIN_TURNS
from dory.errors import DoryError
from dory.identity.context import compacted
from dory.storage.blobs import Blobs
from dory.text import references
from dory.text.prompt_files import DURABLE, SEGMENT, SUMMARISE
from tests.support.household import Household, held, household, mishap, texts


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return Household(tmp_path)


def edit(path: str, *blocks: tuple[str, str]) -> str:
    """An EDIT_FILE with search/replace blocks."""
    return f"EDIT_FILE {path}" + "".join(
        f"\n<<<<<<< SEARCH\n{old and old + chr(10)}=======\n{new and new + chr(10)}>>>>>>> REPLACE"
        for old, new in blocks
    )


BAD: list[tuple[str, str]] = [
    ("SAY lab hello", "you are not in the room 'lab': you are in dev; JOIN enters one"),
    ("SAY", "you are not in the room ''"),
    ("SAY dev", "nothing to say: write SAY <room> <message>"),
    ("SAY dev <<END\n\nEND", "nothing to say"),
    ("SAY dev <<END\nhello\nWAIT", "unterminated text: nothing was done"),
    ("READ_FILE", "which file?"),
    ("READ_FILE workspace/none.md", "no such file: workspace/none.md"),
    ("READ_FILE MEMORY.md 0-3", "there are no lines 0-3: lines count from 1"),
    ("READ_FILE MEMORY.md 5-3", "there are no lines 5-3"),
    ("READ_FILE MEMORY.md 1-" + "9" * 5000, "is outside your files"),
    ("EDIT_FILE MEMORY.md", "no search/replace block"),
    (
        edit("MEMORY.md", ("nothing like it", "x")),
        "the search text 'nothing like it' is not in MEMORY.md: nothing was changed",
    ),
    (
        edit("MEMORY.md", ("twice", "x")),
        "the search text 'twice' stands 2 times in MEMORY.md: nothing was changed",
    ),
    (
        edit("MEMORY.md", ("once", "x"), ("nowhere", "y")),
        "the search text 'nowhere' is not in MEMORY.md",
    ),
    (edit("MEMORY.md", ("once", "once")), "MEMORY.md would not change: it holds that already"),
    (
        edit("MEMORY.md", ("", "x" * MEMORY_LIMIT)),
        (
            "MEMORY.md would have 4023 characters, it may have 4000: nothing was changed; shorten"
            " it first"
        ),
    ),
    (edit("./MEMORY.md", ("", "x" * MEMORY_LIMIT)), "MEMORY.md would have 4023 characters"),
    (
        edit("MEMORY.md", ("once", "x")).removesuffix("\n>>>>>>> REPLACE"),
        "unterminated edit block: nothing was changed",
    ),
    ("UNCOMPACT", "is no reference: write UNCOMPACT and the hash behind"),
    ("UNCOMPACT the trip", "'the trip' is no reference"),
    ("UNCOMPACT 0123", "give at least its first 6 hexadecimal digits"),
    ("UNCOMPACT 0123456789abcdef", "no blob begins with 0123456789abcdef"),
    ("JOIN", "'' is no room"),
    ("JOIN The Lab", "'The Lab' is no room: a room id has 1 to 64 of a-z, 0-9, _ and -"),
    ("JOIN dev", "you are in dev already"),
    ("LEAVE lab", "you are not in lab: you are in dev"),
    ("LEAVE ../dev", "is no room"),
    ("READFILE MEMORY.md", "did you mean the tool READ_FILE?"),
]


@pytest.mark.parametrize(("response", "complaint"), BAD, ids=[response[:30] for response, _ in BAD])
def test_a_bad_call_changes_nothing_and_says_in_one_line_what_to_do(
    house: Household, response: str, complaint: str
) -> None:
    memory = "once\ntwice, twice\n..."
    (house.me.folder / "MEMORY.md").write_text(memory)
    follow = house.respond(response)
    entry = house.me.context.entries[-1]
    assert entry.kind == "error" and complaint in entry.body and len(entry.body.splitlines()) == 1
    assert follow, "the agent must see it"
    assert house.me.memory == memory
    assert house.me.subscriptions() == ["dev"] and house.said("dev") == []
    assert "failed" in house.me.life.tail(1)


def test_a_message_is_said_with_its_lines_in_the_agents_name(house: Household) -> None:
    assert not house.respond("SAY dev hello\nSAY dev first <<END\n- one\n- two\nEND")
    assert house.said("dev") == ["hello", "first\n- one\n- two"]
    assert {line.name for line in house.me.rooms.read("dev", 0)} == {house.me.name}


def test_an_empty_search_appends_on_a_line_of_its_own_and_makes_a_file(house: Household) -> None:
    house.respond(
        edit("workspace/list.md", ("", "one")) + "\n" + edit("workspace/list.md", ("", "two"))
    )
    assert (house.me.folder / "workspace" / "list.md").read_text() == "one\ntwo\n"


def test_blocks_are_applied_in_order(house: Household) -> None:
    house.respond(edit("MEMORY.md", ("", "a"), ("a", "b"), ("b", "c")))
    assert house.me.memory == "c\n"


@pytest.mark.parametrize("name", DURABLE)
def test_a_durable_text_may_be_full_and_no_fuller(house: Household, name: str) -> None:
    assert (
        "it has 4000 characters now"
        in house.result(edit(name, ("", "x" * (MEMORY_LIMIT - 1)))).body
    )
    assert f"{name} would have 4002 characters" in house.result(edit(name, ("", "y"))).body
    assert len((house.me.folder / name).read_text()) == MEMORY_LIMIT


@pytest.mark.parametrize("name", ["USER.md", "./VOICE.md"])
def test_a_durable_text_that_is_missing_is_empty_until_it_is_edited(
    house: Household, name: str
) -> None:
    assert house.result(f"READ_FILE {name}").body == f"{name} is empty"
    assert house.result(edit(name, ("", "warm"))).body == f"{name} changed; it has 5 characters now"
    assert house.result(f"READ_FILE {name}").body == f"{name}, lines 1-1, its end\nwarm\n"


@pytest.mark.parametrize("name", [SEGMENT, SUMMARISE])
def test_an_edit_of_a_template_makes_an_own_copy_that_wins(house: Household, name: str) -> None:
    template = house.me.text(name)
    assert template in references.unescape(house.result(f"READ_FILE {name}").body)
    house.respond(edit(name, ("", "Be brief.")))
    assert house.me.text(name) == (house.me.folder / name).read_text() == f"{template}Be brief.\n"
    assert "Be brief." in house.result(f"READ_FILE {name}").body
    other = Household(house.home / "elsewhere")
    assert other.me.text(name) == template


def test_the_soul_is_read_as_it_was_at_boot(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("I am who I am.\n")
    house = Household(tmp_path)
    (tmp_path / "SOUL.md").write_text("Somebody else.\n")
    assert house.result("READ_FILE SOUL.md").body == "SOUL.md, lines 1-1, its end\nI am who I am.\n"


def test_life_context_rooms_and_blobs_can_be_read(house: Household) -> None:
    house.hear("dev", "ada", "hello")
    for path, text in (
        ("LIFE.md", "You were booted"),
        ("context.md", "You were booted"),
        ("chats/dev.md", "hello"),
        (f"blobs/{house.hash[:2]}/{house.hash}.md", "kind: soul"),
    ):
        assert text in house.result(f"READ_FILE {path}").body


LINES = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.mark.parametrize(
    ("span", "wanted"),
    [
        ("", f"{{}}, lines 1-10, its end\n{LINES}"),
        (" 3-4", "{}, lines 3-4; it goes on: READ_FILE {} 5-\nline 3\nline 4\n"),
        (" 9-", "{}, lines 9-10, its end\nline 9\nline 10\n"),
        (" -2", "{}, lines 1-2; it goes on: READ_FILE {} 3-\nline 1\nline 2\n"),
        (" 10-10", "{}, lines 10-10, its end\nline 10\n"),
        (" 8-99", "{}, lines 8-10, its end\nline 8\nline 9\nline 10\n"),
        (" 11-12", "{} has only 10 lines"),
    ],
)
def test_a_range_gives_those_lines_and_says_how_to_go_on(
    house: Household, span: str, wanted: str
) -> None:
    path = "workspace/my ten lines.md"
    (house.me.folder / path).write_text(LINES)
    assert house.result(f"READ_FILE {path}{span}").body == wanted.replace("{}", path)


def read_all(house: Household, path: str) -> str:
    """A file read piece by piece, as the results say how to go on."""
    found, span = "", ""
    while True:
        head, _, text = house.result(f"READ_FILE {path}{span}").body.partition("\n")
        found += text
        if head.endswith("its end"):
            return found
        span = f" {head.rpartition(' ')[2]}"


def test_a_long_file_is_read_piece_by_piece_without_loss(tmp_path: Path) -> None:
    house = Household(tmp_path, Config(context_limit=1000))
    text = (
        "".join(f"{'ünï' * (number % 50)} {number}\n" for number in range(200))
        + "the last line has no end"
    )
    (house.me.folder / "workspace" / "long.md").write_text(text)
    assert read_all(house, "workspace/long.md") == text
    assert max(len(entry.body) for entry in house.me.context) < 1300


def test_a_line_that_is_longer_than_any_result_is_cut_and_counts_as_one(tmp_path: Path) -> None:
    house = Household(tmp_path, Config(context_limit=1000))
    (house.me.folder / "workspace" / "wide.md").write_text("first\n" + "é" * 30_000 + "\nlast\n")
    assert (
        house.result("READ_FILE workspace/wide.md 2-").body
        == "workspace/wide.md, the beginning of line 2, which is longer than 1000"
        f" characters\n{'é' * 1000}"
    )
    assert (
        house.result("READ_FILE workspace/wide.md").body
        == "workspace/wide.md, lines 1-1; it goes on: READ_FILE workspace/wide.md 2-\nfirst\n"
    )
    assert (
        house.result("READ_FILE workspace/wide.md 3-").body
        == "workspace/wide.md, lines 3-3, its end\nlast\n"
    )


@given(texts)
def test_what_a_file_holds_cannot_forge_a_reference_or_a_header(text: str) -> None:
    with household() as house:
        content = text.encode().replace(b"\x00", b"")
        (house.me.folder / "workspace" / "x.md").write_bytes(content)
        entry = house.result("READ_FILE workspace/x.md")
        assert references.live(entry.text) == []
        assert references.unescape(entry.body).partition("\n")[2].encode() == content
        assert [one.kind for one in house.restart().context.entries] == [
            "notice",
            "response",
            "result",
        ]


def faded(house: Household, text: str) -> str:
    """A compacted stretch at the end of the context, and its hash."""
    entry = house.me.add("notice", "now", references.escape(text))
    hash = house.me.blobs.stash(entry.text, kind="context", gist="what faded", at=house.clock())
    house.me.context.replace(
        [entry], [compacted(entry.first, entry.last, hash, "what faded", "a summary")]
    )
    house.me.new_epoch()
    return hash


def test_uncompact_puts_the_original_back_with_its_headers_inert(house: Household) -> None:
    hash = faded(house, "the hotel is called Lua")
    entry = house.result(f"UNCOMPACT {references.reference(hash, 'what faded')}")
    assert (entry.kind, entry.hash) == ("uncompacted", hash)
    assert references.unquote(f"{entry.body}\n") == house.me.blobs.get(hash).body
    assert house.me.state.opened[str(entry.first)].summary == "a summary"
    assert house.me.state.opened[str(entry.first)].until == house.me.state.turn + PIN_TURNS
    assert house.restart().context.entries[-1] == entry


def test_uncompact_of_what_stands_open_prolongs_its_stay(house: Household) -> None:
    hash = faded(house, "the hotel is called Lua")
    first = house.result(f"UNCOMPACT {hash}")
    house.me.state.turn += 5
    assert (
        f"it stands in the context already, at #{first.first}"
        in house.result(f"UNCOMPACT {hash}").body
    )
    assert house.me.state.opened[str(first.first)].until == house.me.state.turn + PIN_TURNS


def test_uncompact_of_an_empty_text_puts_it_back_too(house: Household) -> None:
    hash = house.me.blobs.stash("", kind="text", gist="nothing", at=house.clock())
    assert house.result(f"UNCOMPACT {hash}").hash == hash


def test_an_original_that_does_not_fit_is_told_with_a_way_to_read_a_part(tmp_path: Path) -> None:
    house = Household(tmp_path, Config(context_limit=1000))
    hash = house.me.blobs.stash("long " * 3000, kind="result", gist="much", at=house.clock())
    entry = house.result(f"UNCOMPACT {hash}")
    assert entry.kind == "error" and f"READ_FILE blobs/{hash[:2]}/{hash}.md 1-200" in entry.body


def foreign_blob(house: Household) -> str:
    blobs = Blobs(house.home / "blobs")
    hash = blobs.stash("x", kind="text", gist="x", at=house.clock())
    content = blobs.path(hash).read_bytes().replace(b"dory: blob 1", b"dory: blob 2")
    name = hashlib.sha256(content).hexdigest()[:16]
    blobs.path(name).parent.mkdir(exist_ok=True)
    blobs.path(name).write_bytes(content)
    return f"UNCOMPACT {name}"


def foreign_room(house: Household) -> str:
    house.me.rooms.path("lab").write_text("[dory-room 2]\n")
    return "JOIN lab"


def room_that_is_a_folder(house: Household) -> str:
    house.me.rooms.path("lab").mkdir()
    return "JOIN lab"


@pytest.mark.parametrize("damage", [foreign_blob, foreign_room, room_that_is_a_folder])
def test_a_damaged_or_foreign_file_behind_a_call_is_its_error_and_not_the_end_of_the_agent(
    house: Household, damage: Callable[[Household], str]
) -> None:
    entry = house.result(damage(house))
    assert entry.kind == "error"
    assert house.me.subscriptions() == ["dev"]


def test_joining_makes_a_room_and_a_symlink_and_leaving_removes_the_symlink_only(
    house: Household,
) -> None:
    house.respond("JOIN lab")
    link = house.me.folder / "subs" / "lab.md"
    assert link.is_symlink() and link.resolve() == house.me.rooms.path("lab").resolve()
    house.respond("LEAVE lab\nLEAVE dev")
    assert (
        not link.is_symlink()
        and house.me.rooms.path("lab").exists()
        and house.me.subscriptions() == []
    )
    assert "you are in none" in house.result("SAY dev x").body


def test_a_turn_follows_a_result_that_tells_something_new(house: Household) -> None:
    assert not house.respond("just a thought")
    assert not house.respond("SAY dev hello\nWAIT")
    for call in ("READ_FILE MEMORY.md", "SAY lab x", "WAITT now", "LEAVE lab"):
        assert house.respond(f"SAY dev hello\n{call}")


def test_no_turn_follows_an_edit_beside_what_was_said(house: Household) -> None:
    note = edit("MEMORY.md", ("", "x\n"))
    for call in (note, "JOIN lab", "LEAVE lab"):
        assert not house.respond(f"{call}\nSAY dev done")
    assert not house.respond(f"{note}\nWAIT")


def test_a_turn_follows_an_edit_alone_or_while_somebody_still_waits(house: Household) -> None:
    note = edit("MEMORY.md", ("", "x\n"))
    assert house.respond(note)
    house.me.state.rooms["dev"].waiting = ["ada"]
    house.respond("JOIN lab")
    assert house.respond(f"{note}\nSAY lab done")
    assert not house.respond(f"{note}\nSAY dev done")
    assert house.respond("EDIT_FILE MEMORY.md\nSAY dev done")


def test_a_room_that_another_program_holds_is_not_entered_and_can_be_later(
    house: Household,
) -> None:
    house.hear("lab", "bob", "hello")
    with held(house.me.rooms.path("lab")):
        error = house.result("JOIN lab")
        assert error.kind == "error" and "the room lab is held by another program" in error.body
        assert error.body.endswith(": try again later")
        assert house.me.subscriptions() == ["dev"]
    house.respond("JOIN lab")
    assert house.me.subscriptions() == ["dev", "lab"]


@pytest.mark.parametrize("line", ["JOIN lab", "LEAVE dev"])
def test_where_the_disk_fails_the_agent_is_in_the_rooms_that_it_is_told(
    line: str, tmp_path: Path
) -> None:
    failed = 0
    for at in range(1, 400):
        house = Household(tmp_path / str(at))
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mishap(at, full) as met, suppress(OSError, DoryError):
            house.respond(line)
        if not met.struck:
            break
        house.restart()
        told = [entry for entry in house.me.context if entry.about.startswith(line.split()[0])]
        changed = house.me.subscriptions() != ["dev"]
        if told:
            assert changed == (told[-1].kind == "result"), at
            failed += told[-1].kind == "error"
    assert at > 20 and failed
