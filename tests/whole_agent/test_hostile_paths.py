"""Hostile arguments: whatever a tool line names, and whatever somebody makes of the files
meanwhile, it stays within the agent's own.
"""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from dory import check
from dory.errors import ToolError
from dory.storage.rooms import is_id
from dory.turn import sandbox
from dory.types import Call
from tests.support.household import Household

SECRET = "the secret of the house next door"
LOOK_ALIKES = [
    "memory.md",
    "MEMORY.MD",
    "ＭＥＭＯＲＹ.md",
    "МEMORY.md",
    "MEMORY.md.",
    "MEMORY。md",
    "MEMORY.md\u0301",
    "MEMORY.md::$DATA",
    "Workspace/x",
    "workspace／x",
    "workspace∕..∕state.json",
    "Chats/dev.md",
    "chats．/dev.md",
    "Blobs/aa/x",
    "soul.md",
    "workspace/．．/state.json",
    "workspace/‥/state.json",
    "workspace/%2e%2e/state.json",
    "workspace/..;/state.json",
    "workspace/.../state.json",
    "workspace/.. /state.json",
]
OUTSIDE = [
    "/proc/self/environ",
    "proc/self/environ",
    "file:///etc/passwd",
    "C:\\secret",
    "~root/secret",
    "`cat secret`",
    "secret",
    "././MEMORY.md",
    "./../secret",
    "/workspace/x",
    "workspace/x/",
    "workspace/\u202ex",
    "workspace/a\u2028b",
    "workspace/a\tb",
    "workspace/a\u200db",
    "chats/.history",
    "chats/dev.md/../../secret",
    "blobs/.draft.tmp",
    "blobs/aa/.draft.tmp",
    "agents",
    "lock",
    "usage.jsonl",
    "agent.log",
    "state.json",
    "context.next.md",
    "LIFE.md.torn",
    "MEMORY.md.damaged",
    "subs",
    "subs/dev.md",
]


@pytest.fixture
def house(tmp_path: Path) -> Household:
    """A house next to whose every file something secret lies, also in another agent's folder."""
    house, other = Household(tmp_path), Household(tmp_path)
    places = [
        "secret",
        "dory.yaml",
        "chats/.history",
        "blobs/.draft.tmp",
        f"agents/{other.hash}/MEMORY.md",
        f"agents/{other.hash}/workspace/x",
    ]
    own = [
        "lock",
        "usage.jsonl",
        "agent.log",
        "LIFE.md.torn",
        "MEMORY.md.damaged",
        "subs/secret.md",
    ]
    for path in [*places, *(f"agents/{house.hash}/{name}" for name in own)]:
        (tmp_path / path).write_text(SECRET)
    return house


def edit(path: str) -> str:
    return f"EDIT_FILE {path}\n<<<<<<< SEARCH\n=======\nmine\n>>>>>>> REPLACE"


def standing(house: Household) -> dict[str, bytes]:
    """Every file of the home, but the agent's workspace, what any response changes, and what rooms
    show of the agent at this moment.
    """
    changing = {house.me.folder / name for name in ("state.json", "LIFE.md", "context.md")} | {
        house.home / "blobs",
        house.home / "chats" / ".live",
    }
    paths = [
        path
        for path in house.home.rglob("*")
        if not {path, *path.parents} & (changing | {house.me.folder / "workspace"})
    ]
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        for path in paths
    }


@pytest.mark.parametrize("path", [*LOOK_ALIKES, *OUTSIDE])
def test_no_look_alike_of_a_path_and_no_way_around_leads_anywhere(
    house: Household, path: str
) -> None:
    before = standing(house)
    for response in (f"READ_FILE {path}", f"READ_FILE {path} 1-9", edit(path), edit(f"{path}/x")):
        entry = house.result(response)
        assert SECRET not in entry.text
        assert entry.kind == "error" or path.startswith("workspace/"), response
    for tool in ("UNCOMPACT", "LEAVE", "SAY", *(() if is_id(path) else ("JOIN",))):
        assert (
            house.result(f"{tool} {path}").kind == house.result(f"{tool} {path} x").kind == "error"
        )
    assert standing(house) == before


def test_other_agents_folders_are_closed_and_their_blobs_are_open(house: Household) -> None:
    (other,) = [folder for folder in (house.home / "agents").iterdir() if folder != house.me.folder]
    for path in (
        f"agents/{other.name}/MEMORY.md",
        f"../{other.name}/MEMORY.md",
        f"workspace/../../{other.name}/workspace/x",
        other.name,
    ):
        assert house.result(f"READ_FILE {path}").kind == house.result(edit(path)).kind == "error"
    assert (other / "MEMORY.md").read_text() == SECRET
    assert "kind: soul" in house.result(f"READ_FILE blobs/{other.name[:2]}/{other.name}.md").body
    assert house.result(f"UNCOMPACT {other.name}").hash == other.name


def test_two_normal_forms_of_a_name_are_two_files(house: Household) -> None:
    composed, decomposed = (
        unicodedata.normalize(form, "workspace/é.md") for form in ("NFC", "NFD")
    )
    house.respond(edit(composed))
    assert house.result(f"READ_FILE {decomposed}").body == f"no such file: {decomposed}"


def test_a_path_that_is_too_long_or_too_deep_makes_nothing(house: Household) -> None:
    for path in (
        "workspace/new/" + "a" * 256,
        "workspace/new/" + "é" * 128,
        "workspace" + "/a" * 300,
        "workspace/" + "/".join(["ab" * 60] * 9),
    ):
        entry = house.result(edit(path))
        assert "is too long: a path may have 500 bytes" in entry.body and len(entry.body) < 200
    assert os.listdir(house.me.folder / "workspace") == []
    deepest = "workspace" + "/a" * 245
    assert house.result(edit(deepest)).kind == "result"
    assert house.result(f"READ_FILE {deepest}").body.endswith("its end\nmine\n")


@contextmanager
def watched(before: Callable[[int, str], None]) -> Iterator[None]:
    """``before`` is told of each system call on files that this thread is about to make: its
    number, from 1, and its name.

    The interpreter announces each call of a C function to a profiler.
    """
    number, usual = 0, sys.getprofile()

    def announced(frame: FrameType, event: str, function: Any) -> None:
        nonlocal number
        if event == "c_call" and getattr(function.__self__, "__name__", "") in ("posix", "_io"):
            number += 1
            before(number, function.__name__)

    sys.setprofile(announced)
    try:
        yield
    finally:
        sys.setprofile(usual)


def attempt(house: Household, tool: str, path: str) -> str:
    """What a call gives, without all that the harness does around it."""
    call = Call(tool, path, edits=(("", "mine"),))
    try:
        return (
            house.tools.read_file(call) if tool == "READ_FILE" else house.tools.edit_file(call)
        ).text
    except (ToolError, OSError) as error:
        return str(error)


def attacked(house: Household, tool: str, swapped: str, at: int) -> int:
    """Run a tool on ``workspace/a/b/file``, whose part ``swapped`` becomes a symlink that leads
    outside before the system call ``at``.

    Returns how many calls there were.
    """
    outside, inside, calls = house.home / "outside", house.me.folder / swapped, 0

    def swap(number: int, _: str) -> None:
        nonlocal calls
        calls = number
        if number == at:
            if inside.exists():
                inside.rename(house.home / f"away {at}")
            if inside.parent.is_dir():
                inside.symlink_to(outside / "file" if swapped.endswith("file") else outside)

    with watched(swap):
        assert SECRET not in attempt(house, tool, "workspace/a/b/file")
    return calls


@pytest.mark.parametrize("tool", ["READ_FILE", "EDIT_FILE"])
@pytest.mark.parametrize(
    "swapped", ["workspace", "workspace/a", "workspace/a/b", "workspace/a/b/file"]
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_symlink_put_in_the_way_before_any_system_call_of_a_tool_is_not_followed(
    house: Household, tool: str, swapped: str, exists: bool
) -> None:
    outside, workspace = house.home / "outside", house.me.folder / "workspace"
    for path in ("file", "b/file", "a/b/file"):
        (outside / path).parent.mkdir(parents=True, exist_ok=True)
        (outside / path).write_text(SECRET)
    before = sorted((path, path.is_file() and path.read_text()) for path in outside.rglob("*"))
    at, calls = 0, 1
    while at < calls:
        at += 1
        if exists:
            (workspace / "a" / "b").mkdir(parents=True)
            (workspace / "a" / "b" / "file").write_text("own\n")
        calls = attacked(house, tool, swapped, at)
        assert (
            sorted((path, path.is_file() and path.read_text()) for path in outside.rglob("*"))
            == before
        )
        if workspace.is_symlink() or workspace.exists():
            workspace.rename(house.home / f"workspace {at}")
        workspace.mkdir()
    assert at > 5


@pytest.mark.parametrize(
    "target",
    [
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/environ",
        "/proc/self/fd",
        "/proc/self/root",
        "/proc/self/cwd",
        "link",
    ],
)
def test_links_to_devices_to_processes_and_in_a_ring_are_not_followed(
    house: Household, target: str
) -> None:
    link = house.me.folder / "workspace" / "link"
    link.symlink_to(target)
    for path in ("workspace/link", "workspace/link/1", "workspace/link/etc/passwd"):
        for response in (f"READ_FILE {path}", edit(path)):
            assert "is not a plain file or leads outside your files" in house.result(response).body
    assert os.readlink(link) == target


def test_a_dangling_link_is_neither_read_nor_made_to_point_at_something(house: Household) -> None:
    for path in ("workspace/link", "SEGMENT.md"):
        (house.me.folder / path).symlink_to(house.home / "made")
        assert house.result(edit(path)).kind == "error"
        assert not (house.home / "made").exists() and (house.me.folder / path).is_symlink()
    assert house.result("READ_FILE workspace/link").kind == "error"


def test_a_device_is_no_file(house: Household) -> None:
    try:
        os.mknod(house.me.folder / "workspace" / "zero", 0o020666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only the superuser makes devices")
    assert (
        house.result("READ_FILE workspace/zero").body
        == house.result(edit("workspace/zero")).body
        == "workspace/zero is not a regular file"
    )


def test_an_edit_does_not_reach_the_other_name_of_a_hard_link(house: Household) -> None:
    for path in ("workspace/linked", "MEMORY.md"):
        (house.me.folder / path).unlink(missing_ok=True)
        os.link(house.home / "secret", house.me.folder / path)
        assert house.result(edit(path)).kind == "result"
    assert (house.home / "secret").read_text() == SECRET


def test_a_file_larger_than_any_memory_is_told_and_neither_read_through_nor_edited(
    house: Household,
) -> None:
    path = "workspace/huge"
    with open(house.me.folder / path, "wb") as file:
        file.write(b"first\n" + b"x" * 100_000)
        file.truncate(2**40)
    assert house.result(f"READ_FILE {path} 1-1").body.endswith("huge 2-\nfirst\n")
    assert "is too long to be edited" in house.result(edit(path)).body
    assert (
        ", the beginning of line 2, which is longer than"
        in house.result(f"READ_FILE {path} 2-").body
    )
    assert (
        house.result(f"READ_FILE {path} 3-").body
        == f"{path} has no line 3 within the 256 MiB that READ_FILE looks through"
    )
    with open(house.me.folder / path, "wb") as file:
        file.truncate(2**40)
    assert house.result(f"READ_FILE {path}").body == f"{path} is not a text file"


def test_a_file_is_edited_up_to_the_limit_however_long_it_becomes(house: Household) -> None:
    (house.me.folder / "workspace" / "log").write_bytes(b"x" * sandbox.EDIT_LIMIT)
    assert house.result(edit("workspace/log")).kind == "result"
    assert (
        house.result(edit("workspace/log")).body
        == f"workspace/log is too long to be edited: it has more than {sandbox.EDIT_LIMIT} bytes"
    )


def test_folders_made_on_the_way_are_durable_before_the_file_in_them(house: Household) -> None:
    calls: list[str] = []
    with watched(lambda _, name: calls.append(name)):
        attempt(house, "EDIT_FILE", "workspace/a/b/file")
    assert [name for name in calls if name in ("mkdir", "fsync", "rename")] == [
        *["mkdir"],  # the workspace, which is there
        *["mkdir", "fsync"] * 2,
        *["fsync", "rename", "fsync"],
    ]


def not_regular(path: Path, what: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path) if what == "fifo" else path.symlink_to(what)


@pytest.mark.parametrize("what", ["fifo", "/dev/zero", "../secret", "../agents"])
def test_a_room_or_a_blob_that_is_no_regular_file_is_refused_and_never_waited_for(
    house: Household, what: str
) -> None:
    hash = "ab" * 8
    not_regular(house.me.rooms.path("lab"), what)
    not_regular(house.me.blobs.path(hash), what)
    for response in (
        "JOIN lab",
        f"UNCOMPACT {hash}",
        f"READ_FILE blobs/ab/{hash}.md",
        "READ_FILE chats/lab.md",
    ):
        entry = house.result(response)
        assert entry.kind == "error" and SECRET not in entry.text
    assert house.me.subscriptions() == ["dev"] and (house.home / "secret").read_text() == SECRET
    assert {problem.partition(": ")[0] for problem in check.problems(house.home)} == {
        "chats/lab.md",
        f"blobs/ab/{hash}.md",
    }
