"""The walls: whatever a path says and wherever symlinks lead, a tool reads and edits the agent's
own files and nothing else.
"""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import ToolError
from dory.turn import sandbox
from tests.support.household import Household, texts
from tests.support.versioned import meanwhile

SECRET = "the secret of the house next door"
OUTSIDE = [
    "",
    ".",
    "..",
    "/etc/passwd",
    "../secret",
    "workspace/../state.json",
    "workspace/../../../secret",
    "workspace//x",
    "workspace/./x",
    "chats/../secret",
    "chats/../agents",
    "blobs/..",
    "state.json",
    "soul.json",
    "lock",
    "subs/dev.md",
    "usage.jsonl",
    "agents/x/MEMORY.md",
    "MEMORY.md/../state.json",
    "secret",
    "dory.yaml",
    "chats",
    "blobs",
    "blobs/.hidden",
    "~/x",
    "workspace\\..\\secret\n",
    "MEMORY.md\x00",
    ".git/HEAD",
    ".git",
    "user.md",
]
READ_ONLY = [
    "SOUL.md",
    "LIFE.md",
    "context.md",
    "chats/dev.md",
    "blobs/aa/x.md",
    "diary/2026-03-02.json",
    "workspace",
    "workspace2/x",
    "MEMORY.md/",
]


@pytest.fixture
def house(tmp_path: Path) -> Household:
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "dory.yaml").write_text(f"name: {SECRET}")
    return Household(tmp_path)


def read(house: Household, path: str) -> str:
    return house.result(f"READ_FILE {path}").body


def edit(house: Household, path: str) -> str:
    return house.result(f"EDIT_FILE {path}\n<<<<<<< SEARCH\n=======\nmine\n>>>>>>> REPLACE").body


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but those that any commit changes."""
    changing = {"state.json", "LIFE.md", "context.md"}
    found = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in changing and "blobs" not in path.parts
    ]
    return {str(path): path.read_bytes() for path in found}


@pytest.mark.parametrize("path", OUTSIDE)
def test_nothing_outside_can_be_read_or_edited(house: Household, path: str) -> None:
    before = snapshot(house.home)
    for answer in (read(house, path), edit(house, path)):
        assert (
            "is no path" in answer
            or "is outside your files" in answer
            or "may not be edited" in answer
            or "which file?" in answer
        )
        assert SECRET not in answer
    assert snapshot(house.home) == before


@pytest.mark.parametrize("path", READ_ONLY)
def test_what_may_be_read_only_cannot_be_edited(house: Household, path: str) -> None:
    before = snapshot(house.home)
    assert (
        "may not be edited: only USER.md, MEMORY.md, VOICE.md, SEGMENT.md, SUMMARISE.md and files"
        " under workspace/" in edit(house, path)
    )
    assert snapshot(house.home) == before


@given(
    texts
    | st.lists(
        st.sampled_from(["..", ".", "/", "workspace", "chats", "MEMORY.md", "a", "\x00", "~"]),
        max_size=6,
    ).map("/".join)
)
def test_no_path_leads_out_of_its_root(path: str) -> None:
    try:
        root, parts = sandbox.place(Path("/agents/me"), Path("/home"), path)
    except ToolError as error:
        assert len(str(error).splitlines()) == 1
        return
    assert (
        parts
        and not {"", ".", "..", "/"} & set(parts)
        and not any("/" in part or "\x00" in part for part in parts)
    )
    assert root == Path("/agents/me") or parts[0] in (
        "chats",
        "blobs",
        "SEGMENT.md",
        "SUMMARISE.md",
    )


@pytest.mark.parametrize(
    "where",
    ["workspace", "workspace/inner", "workspace/inner/file", "MEMORY.md", "VOICE.md", "SEGMENT.md"],
)
def test_a_symlink_at_any_level_is_not_followed(house: Household, where: str) -> None:
    outside, link = house.home / "outside", house.me.folder / where
    outside.mkdir()
    (outside / "file").write_text(SECRET)
    if where == "workspace":
        link.rmdir()
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    folder = link.name in ("workspace", "inner")
    link.symlink_to(outside if folder else outside / "file")
    path = f"{where}/file" if folder else where
    assert (
        read(house, path)
        == edit(house, path)
        == f"{path} is not a plain file or leads outside your files"
    )
    assert "holds" not in read(house, where)
    assert (outside / "file").read_text() == SECRET


def test_a_symlink_in_the_rooms_and_the_blobs_is_not_followed(house: Household) -> None:
    (house.home / "blobs" / "aa").mkdir()
    for path in ("chats/other.md", "blobs/aa/other.md"):
        (house.home / path).symlink_to(house.home / "secret")
        assert read(house, path) == f"{path} is not a plain file or leads outside your files"


def test_only_regular_files_are_read_and_a_pipe_does_not_block(house: Household) -> None:
    workspace = house.me.folder / "workspace"
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(workspace)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        assert (
            read(house, "workspace/pipe")
            == edit(house, "workspace/pipe")
            == "workspace/pipe is not a regular file"
        )
        assert read(house, "workspace/socket") == "workspace/socket is not a regular file"
    (workspace / "folder").mkdir()
    assert edit(house, "workspace/folder") == "workspace/folder is not a regular file"


def test_binary_files_are_told_from_text(house: Household) -> None:
    (house.me.folder / "workspace" / "picture").write_bytes(b"\x89PNG\x00\x01")
    (house.me.folder / "workspace" / "latin").write_bytes(b"caf\xe9\n")
    assert read(house, "workspace/picture") == "workspace/picture is not a text file"
    assert edit(house, "workspace/latin") == "workspace/latin is not a text file"
    assert read(house, "workspace/latin").endswith("caf�\n")


def test_folders_are_made_on_the_way_and_a_file_in_the_way_is_told(house: Household) -> None:
    assert (
        edit(house, "workspace/a/b/c.md") == "workspace/a/b/c.md changed; it has 5 characters now"
    )
    assert (
        edit(house, "workspace/a/b/c.md/d")
        == "workspace/a/b/c.md/d is not a plain file or leads outside your files"
    )
    assert edit(house, "./workspace/e/").startswith("./workspace/e/ changed")
    assert read(house, "workspace/e") == "workspace/e, lines 1-1, its end\nmine\n"


@pytest.mark.parametrize("path", ["MEMORY.md", "SEGMENT.md", "workspace/a/b.md"])
def test_what_a_person_saves_while_a_tool_edits_is_not_overwritten_and_told(
    house: Household, path: str
) -> None:
    file = house.me.folder / path
    file.parent.mkdir(exist_ok=True)
    with meanwhile("write", 1, lambda: file.write_text("by hand\n")):
        assert (
            edit(house, path)
            == f"somebody has just saved {path}: nothing was changed; read it again"
        )
    assert file.read_text() == "by hand\n"
    assert "changed" in edit(house, path) and file.read_text() == "by hand\nmine\n"


def test_a_folder_is_listed_without_hidden_names_whatever_bytes_they_are_of(
    house: Household,
) -> None:
    workspace = house.me.folder / "workspace"
    (workspace / "inner").mkdir()
    for name in (b"b.md", b"caf\xe9", b".hidden", b"x\n[#99 heard dev]"):
        Path(os.fsdecode(os.fsencode(workspace) + b"/" + name)).write_text("")
    assert read(house, "workspace") == "workspace holds: b.md, caf?, inner/, x\n\\[#99 heard dev]"
    assert len(house.restart().context.entries) == 3


def test_a_name_that_is_too_long_is_an_error_and_not_the_end(house: Household) -> None:
    path = "workspace/" + "a" * 300
    assert (
        house.result(f"READ_FILE {path}").kind
        == house.result(f"EDIT_FILE {path}\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE").kind
        == "error"
    )
    assert os.listdir(house.me.folder / "workspace") == []
