"""One identity on disk: it exists as a whole or not at all, and so does every commit. A kill or a
full disk at any moment loses nothing and doubles nothing.
"""

import errno
import os
from datetime import timedelta
from pathlib import Path

import pytest

from dory import check
from dory.clock import utc
from dory.errors import BlobError, DoryError, FormatError, ToolError
from dory.identity import context, listing, state
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.text.prompt_files import MEMORY, SEGMENT
from dory.types import Event
from tests.support.household import Household, Killed, Time, bodies, copy_of, mishap


def acknowledged(me: Identity) -> list[str]:
    """What LIFE tells of notices, each line's text."""
    return [
        line.partition(" notice ")[2]
        for line in (me.folder / "LIFE.md").read_text().splitlines()
        if " notice " in line
    ]


def consistent(house: Household) -> None:
    """Memory, context and LIFE tell the same, and the check finds nothing."""
    assert acknowledged(house.me) == bodies(house.me.context.entries, "notice")
    assert house.me.life.tail(50) == (house.me.folder / "LIFE.md").read_text().partition("\n")[2]
    assert list(check.problems(house.me.home)) == []


def test_the_same_soul_at_two_times_gives_two_identities(tmp_path: Path) -> None:
    clock = Time()
    first = boot(tmp_path, "dory", "dev", clock)
    second = boot(tmp_path, "dory", "dev", clock)
    assert first != second
    souls = [Identity(tmp_path, hash, clock).soul for hash in (first, second)]
    assert souls[0] == souls[1]


def test_a_boot_killed_at_any_instant_leaves_a_whole_identity_or_none(tmp_path: Path) -> None:
    struck = True
    number = 0
    while struck:
        number += 1
        home = tmp_path / str(number)
        with mishap(number, Killed()) as seen:
            boot(home, "dory", "dev", Time())
        struck = seen.struck
        assert list(check.problems(home)) == []
        for folder in listing.folders(home):
            Identity(home, folder.name, Time()).begin()
        hash = (
            boot(home, "dory", "dev", Time())
            if not listing.folders(home)
            else listing.folders(home)[0].name
        )
        assert Identity(home, hash, Time()).subscriptions() == ["dev"]
    assert number > 20


def test_what_is_committed_is_there_for_the_next_process_and_the_rest_is_not(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    house.me.notice("kept")
    house.me.commit()
    house.me.notice("lost")
    assert bodies(house.restart().context.entries, "notice") == [
        "You were booted. You are in the room dev.",
        "kept",
    ]
    consistent(house)


def test_an_identity_without_its_soul_is_refused(tmp_path: Path) -> None:
    house = Household(tmp_path)
    house.me.blobs.path(house.hash).unlink()
    with pytest.raises(BlobError, match=f"no blob begins with {house.hash}"):
        house.restart()


def test_a_commit_killed_at_any_instant_happened_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    struck = True
    number = 0
    outcomes = []
    while struck:
        number += 1
        copy_of(tmp_path / "home", tmp_path / str(number))
        me = house.restart(tmp_path / str(number))
        me.notice("one")
        me.notice("two")
        with mishap(number, Killed()) as seen:
            me.commit()
        struck = seen.struck
        outcomes.append(bodies(house.restart(tmp_path / str(number)).context.entries, "notice")[1:])
        consistent(house)
    assert outcomes == sorted(outcomes) and {len(outcome) for outcome in outcomes} == {0, 2}
    assert number > 8


def test_a_new_epoch_killed_at_any_instant_happened_as_a_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path / "home")
    house.me.notice("long " * 100)
    house.me.commit()
    struck = True
    number = 0
    outcomes = []
    while struck:
        number += 1
        copy_of(tmp_path / "home", tmp_path / str(number))
        me = house.restart(tmp_path / str(number))
        me.context.replace(
            me.context.entries[:2], [context.compacted(1, 2, stash(me), "gist", "short")]
        )
        with mishap(number, Killed()) as seen:
            me.new_epoch()
        struck = seen.struck
        again = house.restart(tmp_path / str(number))
        outcomes.append(len(again.context.entries))
        again.notice("life goes on")
        again.commit()
        assert len(house.restart(tmp_path / str(number)).context.entries) == outcomes[-1] + 1
        assert list(check.problems(again.home)) == []
    assert outcomes == [2] * outcomes.count(2) + [1] * outcomes.count(1)
    assert outcomes.count(2) > 2 and outcomes.count(1) > 2


def stash(me: Identity) -> str:
    """The first two entries as a compaction keeps them."""
    return me.blobs.stash(
        context.render(me.context.entries[:2]), kind="context", gist="gist", at=me.now()
    )


@pytest.mark.parametrize("epoch", [False, True])
def test_after_a_disk_error_anywhere_a_commit_is_repeated_and_listeners_hear_each_event_once(
    tmp_path: Path, epoch: bool
) -> None:
    house = Household(tmp_path / "home")
    struck = True
    number = 0
    while struck:
        number += 1
        copy_of(tmp_path / "home", tmp_path / str(number))
        me = house.restart(tmp_path / str(number))
        heard: list[Event] = []
        me.listeners.append(heard.append)
        me.notice("one")
        with mishap(number, OSError(errno.ENOSPC, "No space left on device")) as seen:
            me.new_epoch() if epoch else me.commit()
        struck = seen.struck
        me.notice("two")
        me.commit()
        assert [event.text for event in heard] == ["one", "two"]
        assert me.life.tail(2).count(" notice ") == 2
        assert bodies(house.restart(tmp_path / str(number)).context.entries, "notice")[1:] == [
            "one",
            "two",
        ]
        consistent(house)
    assert number > 8


def test_a_listener_hears_an_event_only_when_it_is_on_disk(tmp_path: Path) -> None:
    house = Household(tmp_path)
    heard: list[str] = []
    house.me.listeners.append(
        lambda event: heard.append(
            f"{event.text}: {event.text in (house.me.folder / 'LIFE.md').read_text()}"
        )
    )
    house.me.notice("hello")
    assert heard == []
    house.me.commit()
    assert heard == ["hello: True"]


@pytest.mark.parametrize("kept", [0, 1, 7])
def test_a_torn_line_of_life_is_completed_by_the_next_process(tmp_path: Path, kept: int) -> None:
    house = Household(tmp_path)
    house.me.notice("the last words")
    house.me.commit()
    whole = (house.me.folder / "LIFE.md").read_bytes()
    os.truncate(house.me.folder / "LIFE.md", house.me.state.life_bytes + kept)
    house.restart()
    assert (house.me.folder / "LIFE.md").read_bytes() == whole
    consistent(house)


def test_a_torn_end_behind_the_committed_context_is_cut_off(tmp_path: Path) -> None:
    house = Household(tmp_path)
    with open(house.me.folder / "context.md", "a") as file:
        file.write("[#2 heard dev]\n[USER:ada 2026")
    assert len(house.restart().context.entries) == 1
    house.me.notice("next")
    house.me.commit()
    assert len(house.restart().context.entries) == 2


@pytest.mark.parametrize(
    ("name", "lost"), [("LIFE.md", 10), ("LIFE.md", 100), ("context.md", 1), ("context.md", 60)]
)
def test_a_file_that_lost_what_was_acknowledged_is_refused_and_left_as_it_is(
    tmp_path: Path, name: str, lost: int
) -> None:
    house = Household(tmp_path)
    house.me.begin()
    path = house.me.folder / name
    end = house.me.state.life_bytes if name == "LIFE.md" else house.me.state.context_bytes
    damaged = path.read_bytes()[: max(30, end - lost)]
    path.write_bytes(damaged)
    with pytest.raises(FormatError, match=f"{name}.*backup"):
        house.restart()
    assert path.read_bytes() == damaged


def test_a_context_of_another_epoch_is_refused(tmp_path: Path) -> None:
    house = Household(tmp_path)
    content = (house.me.folder / "context.md").read_bytes()
    house.me.new_epoch()
    (house.me.folder / "context.md").write_bytes(content)
    with pytest.raises(FormatError, match=r"is damaged, or not the one that state\.json describes"):
        house.restart()
    (house.me.folder / "context.md").unlink()
    with pytest.raises(FormatError, match=r"context\.md is missing: put it back from a backup"):
        house.restart()


def test_a_record_of_a_lost_epoch_is_not_taken_for_its_context(tmp_path: Path) -> None:
    house = Household(tmp_path)
    (house.me.folder / "context.next.md").write_text(
        context.heading(99) + "[#1 notice x]\nnever committed\n"
    )
    assert bodies(house.restart().context.entries, "notice") == [
        "You were booted. You are in the room dev."
    ]


def test_it_knows_its_own_lines_whatever_it_was_called_at_boot(tmp_path: Path) -> None:
    for number, name in enumerate(("dory", "my bot", "[x] ◱", "", "é" * 100, "a\nb")):
        me = Identity(
            tmp_path / str(number), boot(tmp_path / str(number), name, "dev", Time()), Time()
        )
        me.rooms.say("dev", "AGENT", me.name, "hello", Time()())
        assert me.rooms.read("dev", 0)[0].name == me.name
        assert me.name.endswith(f"-{me.hash[:8]}")


def test_a_room_that_is_none_boots_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="is no room"):
        boot(tmp_path, "dory", "The Lab", Time())
    assert os.listdir(tmp_path) == []


def test_a_kill_while_a_room_is_joined_again_leaves_no_old_command_to_be_run(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path / "home")
    house.me.join("lab")
    house.me.leave("lab")
    for text in ("anybody here?", "/compact"):
        house.me.rooms.say("lab", "USER", "ada", text, house.clock())
    end = house.me.rooms.end("lab")
    subscribed = []
    for number in range(1, 100):
        me = house.restart(copy_of(tmp_path / "home", tmp_path / str(number)))
        with mishap(number, Killed()) as killed:
            me.join("lab")
        again = house.restart(tmp_path / str(number))
        subscribed.append("lab" in again.subscriptions())
        if subscribed[-1]:
            assert again.state.rooms["lab"].commands == end
        assert list(check.problems(again.home)) == []
        if not killed.struck:
            break
    assert set(subscribed) == {False, True} and subscribed == sorted(subscribed)


def test_a_home_can_be_moved(tmp_path: Path) -> None:
    house = Household(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    me = house.restart(tmp_path / "there")
    assert (me.folder / "subs" / "dev.md").resolve() == tmp_path / "there" / "chats" / "dev.md"


def test_a_text_is_stashed_again_only_when_it_has_changed(tmp_path: Path) -> None:
    house = Household(tmp_path)
    first = house.me.text_reference(SEGMENT)
    house.clock.at += timedelta(days=1)
    assert house.me.text_reference(SEGMENT) == first
    house.me.commit()
    assert house.restart().text_reference(SEGMENT) == first
    (house.me.folder / SEGMENT).write_text("cut by topic")
    assert house.me.text_reference(SEGMENT) != first
    assert house.me.text(SEGMENT) == "cut by topic"


def test_memory_is_read_as_it_stands_on_disk(tmp_path: Path) -> None:
    house = Household(tmp_path)
    (house.me.folder / MEMORY).write_bytes(b"edited by hand \xff")
    assert house.me.memory == "edited by hand �"


def test_state_names_the_newest_bytes_after_every_commit(tmp_path: Path) -> None:
    house = Household(tmp_path)
    house.me.notice("ünïcödé 🐟")
    house.me.commit()
    record = state.load(house.me.folder / "state.json")
    assert record.context_bytes == (house.me.folder / "context.md").stat().st_size
    assert (
        record.life_bytes + len(record.life_lines.encode())
        == (house.me.folder / "LIFE.md").stat().st_size
    )


@pytest.mark.parametrize(
    "path",
    [
        *("agents", "chats", "blobs", "links", "agents/{hash}", "agents/{hash}/diary"),
        *("agents/{hash}/subs", "agents/{hash}/summaries", "agents/{hash}/.git"),
        *("agents/{hash}/memory.sqlite", "agents/{hash}/memory.sqlite-wal"),
    ],
)
def test_a_home_in_which_a_store_is_a_link_is_refused_by_its_name(
    tmp_path: Path, path: str
) -> None:
    house = Household(tmp_path / "home")
    shown = path.format(hash=house.hash)
    store = house.home / shown
    elsewhere = tmp_path / "elsewhere"
    if store.exists():
        store.rename(elsewhere)
    elif "sqlite" in path:
        elsewhere.write_bytes(b"")
    else:
        elsewhere.mkdir()
    store.symlink_to(elsewhere)
    before = tree(elsewhere)
    with pytest.raises(DoryError, match=f"{shown} is a link: put the folder or file itself there"):
        Identity(house.home, house.hash, utc)
    assert tree(elsewhere) == before


def test_a_whole_home_may_be_a_link(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    (tmp_path / "link").symlink_to(house.home)
    assert Identity(tmp_path / "link", house.hash, utc).hash == house.hash


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
