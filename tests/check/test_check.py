"""``clean.py --check`` finds and names every kind of damage, and finds nothing in a sound home."""

import hashlib
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory import check
from dory.constants import MEMORY_LIMIT
from dory.identity import context, state
from dory.identity.context import Entry, compacted
from dory.text import references
from tests.support.household import Household, household, turns_of_life


@pytest.fixture
def house(tmp_path: Path) -> Household:
    """A life with a stretch that faded twice, an original put back, and some that stand as they
    were.
    """
    house = Household(tmp_path)
    house.hear("dev", "ada", "hello")
    for number in range(4):
        house.respond(f"SAY dev answer {number}\nREAD_FILE MEMORY.md")
    inner = house.fade(house.me.context.entries[1:4], "the inner stretch")
    house.fade(house.me.context.entries[:3], "the outer stretch")
    house.respond(f"UNCOMPACT {inner}")
    house.me.text_reference("SEGMENT.md")
    house.me.commit()
    return house


def problems(house: Household) -> list[str]:
    return list(check.problems(house.home))


def hash_of(house: Household, gist: str) -> str:
    """The blob with this gist, as LIFE names it."""
    return next(
        hash for hash, said in references.live(house.me.life.tail(50)) if said.startswith(gist)
    )


def rewritten(house: Household, entries: Sequence[Entry]) -> None:
    """Put other entries into context.md, as if they had been committed."""
    content = (context.heading(house.me.state.epoch) + context.render(entries)).encode()
    (house.me.folder / "context.md").write_bytes(content)
    set_state(house, context_bytes=len(content), context_check=zlib.crc32(content))


def set_state(house: Household, **values: Any) -> None:
    path = house.me.folder / "state.json"
    state.save(path, replace(state.load(path), **values))


def replaced(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def flip_a_bit(house: Household) -> str:
    path = house.me.blobs.path(hash_of(house, "SAY dev answer 1"))
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(content)
    return f"{path.name}: its content does not match its name"


def misplace_a_blob(house: Household) -> str:
    path = house.me.blobs.path(hash_of(house, "SAY dev answer 1"))
    (house.home / "blobs" / "zz").mkdir()
    os.rename(path, house.home / "blobs" / "zz" / path.name)
    return f"blobs/zz/{path.name}: its content does not match its name"


def lose_an_original(house: Household) -> str:
    hash = hash_of(house, "the outer stretch")
    house.me.blobs.path(hash).unlink()
    return f"agents/{house.hash}: state or context: refers to {hash}, which is missing"


def lose_an_inner_original(house: Household) -> str:
    hash = hash_of(house, "the inner stretch")
    house.me.blobs.path(hash).unlink()
    return f"cannot be opened: no blob begins with {hash}"


def lose_a_result(house: Household) -> str:
    hash = hash_of(house, "MEMORY.md is empty")
    house.me.blobs.path(hash).unlink()
    return f"LIFE.md line 5: refers to {hash}, which is missing"


def lose_a_parent(house: Household) -> str:
    parent = hash_of(house, "SAY dev answer 0")
    house.me.blobs.path(parent).unlink()
    return f".md: refers to {parent}, which is missing"


def lose_a_text(house: Household) -> str:
    hash = house.me.state.texts["SEGMENT.md"]
    house.me.blobs.path(hash).unlink()
    return f"state or context: refers to {hash}, which is missing"


def lose_the_soul(house: Household) -> str:
    house.me.blobs.path(house.hash).unlink()
    return f"no blob begins with {house.hash}"


def cut_the_context(house: Household) -> str:
    os.truncate(house.me.folder / "context.md", house.me.state.context_bytes - 1)
    return "context.md is not the one that state.json describes"


def cut_life(house: Household) -> str:
    known = house.me.state.generation
    short = house.me.state.life_bytes - 1
    os.truncate(house.me.folder / "LIFE.md", short)
    return f"LIFE.md is of generation {short} and state.json of generation {known}: the end of the"


def lose_life(house: Household) -> str:
    (house.me.folder / "LIFE.md").unlink()
    return "LIFE.md"


def damage_what_is_known_of_a_room(house: Household) -> str:
    house.me.state.rooms["dev"].lost = ["2026-03-02T12:00:00Z many 123456789abc"]
    house.me.commit()
    return "what state.json notes of the newest messages in chats/dev.md is damaged"


def cut_a_room(house: Household) -> str:
    end = house.me.rooms.size("dev")
    house.me.state.rooms["dev"].read = end
    house.me.commit()
    os.truncate(house.me.rooms.path("dev"), end - 1)
    return f"it has read {end} bytes of chats/dev.md, which is shorter"


def double_an_id(house: Household) -> str:
    entries = house.me.context.entries
    rewritten(house, [entries[0], *entries])
    return "the context's ids do not rise at"


def lose_an_entry(house: Household) -> str:
    entries = house.me.context.entries
    rewritten(house, [*entries[:2], *entries[3:]])
    return f"follows on #{entries[1].last}: ids are missing or doubled"


def lose_the_newest_entry(house: Household) -> str:
    rewritten(house, house.me.context.entries[:-1])
    newest = house.me.state.next_id - 1
    return f"the entries reach to #{newest - 1}, there were {newest}"


def lose_an_entry_inside_an_original(house: Household) -> str:
    entries = house.me.context.entries[1:5]
    short = house.me.blobs.stash(
        context.render([entries[0], *entries[2:]]), kind="context", gist="short", at=house.clock()
    )
    house.me.context.replace(
        entries, [compacted(entries[0].first, entries[-1].last, short, "short", "")]
    )
    house.me.new_epoch()
    return f"entry #{entries[2].ids} follows on #{entries[0].last}: ids are missing or doubled"


def damage_an_entry(house: Household) -> str:
    replaced(house.me.folder / "context.md", b"[#", b"[?")
    return "context.md is not the one that state.json describes"


def overfill_user(house: Household) -> str:
    (house.me.folder / "USER.md").write_text("x" * (MEMORY_LIMIT + 1))
    return f"USER.md has {MEMORY_LIMIT + 1} characters, it may have {MEMORY_LIMIT}"


def spoil_memory(house: Household) -> str:
    (house.me.folder / "MEMORY.md").write_bytes(b"caf\xe9")
    return "'utf-8' codec can't decode"


def foreign_state(house: Household) -> str:
    replaced(house.me.folder / "state.json", b'"version": 1', b'"version": 2')
    return "state.json is of version '2', this Dory reads 1"


def foreign_life(house: Household) -> str:
    replaced(house.me.folder / "LIFE.md", b"[dory-life 1]", b"[dory-life 2]")
    return "LIFE.md is of version '[dory-life 2]"


def foreign_context(house: Household) -> str:
    replaced(house.me.folder / "context.md", b"[dory-context 1 ", b"[dory-context 2 ")
    return "context.md is of version '[dory-context 2 "


def foreign_room(house: Household) -> str:
    replaced(house.me.rooms.path("dev"), b"[dory-room 1]", b"[dory-room 2]")
    return "chats/dev.md: chats/dev.md is of version '[dory-room 2]'"


def planted(house: Household, content: bytes) -> str:
    """A blob with this content under its right name."""
    hash = hashlib.sha256(content).hexdigest()[:16]
    house.me.blobs.path(hash).parent.mkdir(exist_ok=True)
    house.me.blobs.path(hash).write_bytes(content)
    return hash


FOREIGN = b"---\ndory: blob 2\n---\n"


def foreign_blob(house: Household) -> str:
    return f"blob {planted(house, FOREIGN)} is of version 'blob 2'"


def unknown_kind_of_blob(house: Household) -> str:
    planted(house, b'---\ndory: blob 1\nkind: poem\nat: x\ngist: ""\nparent: null\n---\n')
    return ".md: unknown kind 'poem'"


def reference_to_nothing_in_a_blob(house: Household) -> str:
    body = compacted(1, 2, "0123456789abcdef", "gone", "").text
    house.me.blobs.stash(body, kind="context", gist="x", at=house.clock())
    return ".md: refers to 0123456789abcdef, which is missing"


def folder_in_place_of_a_blob(house: Household) -> str:
    (house.home / "blobs" / "ab" / "abcdefabcdefabcd.md").mkdir(parents=True)
    return "blobs/ab/abcdefabcdefabcd.md: [Errno 21] Is a directory"


def folder_in_place_of_a_room(house: Household) -> str:
    house.me.rooms.path("lab").mkdir()
    return "chats/lab.md: [Errno 21] Is a directory"


DAMAGES: list[Callable[[Household], str]] = [
    flip_a_bit,
    misplace_a_blob,
    lose_an_original,
    lose_an_inner_original,
    lose_a_result,
    lose_a_parent,
    lose_a_text,
    lose_the_soul,
    cut_the_context,
    cut_life,
    lose_life,
    damage_what_is_known_of_a_room,
    cut_a_room,
    double_an_id,
    lose_an_entry,
    lose_the_newest_entry,
    lose_an_entry_inside_an_original,
    damage_an_entry,
    overfill_user,
    spoil_memory,
    foreign_state,
    foreign_life,
    foreign_context,
    foreign_room,
    foreign_blob,
    unknown_kind_of_blob,
    reference_to_nothing_in_a_blob,
    folder_in_place_of_a_blob,
    folder_in_place_of_a_room,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_every_kind_of_damage_is_found_and_named(
    house: Household, damage: Callable[[Household], str]
) -> None:
    assert problems(house) == []
    complaint = damage(house)
    assert [problem for problem in problems(house) if complaint in problem], problems(house)


@given(st.lists(turns_of_life, max_size=10))
def test_after_any_life_the_check_finds_nothing_and_the_next_process_sees_the_same(
    life: list[tuple[str, str]],
) -> None:
    with household() as house:
        for moment in life:
            house.live(moment)
        seen = (house.me.context.entries, house.me.life.tail(50), house.me.state.opened)
        assert problems(house) == []
        house.restart()
        assert (house.me.context.entries, house.me.life.tail(50), house.me.state.opened) == seen


def test_what_is_not_committed_or_not_finished_is_no_damage(house: Household) -> None:
    house.me.notice("not yet committed")
    (house.me.folder / "context.next.md").write_text("left by a crash")
    (house.home / "agents" / ".0123456789abcdef.boot").mkdir()
    with open(house.me.rooms.path("dev"), "a") as file:
        file.write("[USER:ada 2026")
    assert problems(house) == []


def test_a_house_in_which_nobody_lives_is_whole(tmp_path: Path) -> None:
    assert list(check.problems(tmp_path)) == []


def test_the_check_changes_nothing(house: Household) -> None:
    before = {path: path.read_bytes() for path in house.home.rglob("*") if path.is_file()}
    lose_an_original(house)
    problems(house)
    after = {path: path.read_bytes() for path in house.home.rglob("*") if path.is_file()}
    assert after.items() <= before.items() and len(after) == len(before) - 1
