"""The workspace is hostile output: whatever a model writes there, no program that a person starts
beside it runs what was written. Real git, and the real attacks.
"""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dory import check
from dory.errors import ToolError, VersionError
from dory.extensions.dream.repository import Author, Git
from dory.extensions.notes.note_file import stem_of
from dory.text import file_names
from dory.turn import sandbox
from tests.support.household import Household

FSMONITOR = """[core]
\trepositoryformatversion = 0
\tbare = false
\tworktree = .
\tfsmonitor = "touch {ran}; false"
[remote "origin"]
\turl = "ext::touch {ran}"
\tfetch = +refs/heads/*:refs/remotes/origin/*
[protocol "ext"]
\tallow = always
"""
ALL_SPELLINGS = [
    *(
        ".git",
        ".GIT",
        ".Git/hooks",
        ".git.",
        ".git ",
        " .git",
        ".git::$INDEX_ALLOCATION",
        "a\\.git",
    ),
    *(
        "．git",
        "․git",
        "﹒git",
        "…",
        "...",
        ".g\u034fit",
        "\u3164.git",
        "git~1",
        "GIT~1",
        "GITMOD~1",
        "git~2",
        "gi7eba~1",
    ),
    *(
        "HEAD",
        "head",
        "Head.",
        "HEAD ",
        "HEAD::$DATA",
        "ＨＥＡＤ",
        "H\ufe0fEAD",
        "HEAD/x",
        "a/HEAD",
    ),
    *(".envrc", ".vscode/tasks.json", ".obsidian/plugins/x/main.js", ".hg/hgrc", ".bashrc"),
    *("_darcs/prefs/defaults", "CVS/Root", "desktop.ini", "Autorun.inf"),
]
ORDINARY = [
    *("config", "objects/x", "refs/x", "heading.md", "HEAD.md", "a.b.c", "x~", "Makefile", "3.14"),
    *(
        "package.json",
        "conftest.py",
        "naïve café.md",
        "日本語.md",
        "notes ~ 1.md",
        "report~1",
        "REPORT~1.TXT",
        "gif~1",
        "a-.git",
        "b..md",
    ),
]


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return Household(tmp_path)


def write(house: Household, path: str, text: str) -> str:
    return house.result(f"EDIT_FILE {path}\n<<<<<<< SEARCH\n=======\n{text}\n>>>>>>> REPLACE").body


def git_runs_something(house: Household, folder: Path, ran: Path) -> bool:
    """Whether ``git status`` and others, as a person types them there, run what the files say."""
    for words in (["status"], ["log"], ["diff"], ["add", "-A"], ["fetch"], ["stash"]):
        subprocess.run(
            ["git", *words],
            cwd=folder,
            capture_output=True,
            env=os.environ | {"HOME": str(house.home)},
            check=False,
        )
    return ran.exists()


def by_hand(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def layouts(ran: str) -> dict[str, dict[str, str]]:
    """Files that let git run a command in the folder that they stand in."""
    config = FSMONITOR.format(ran=ran)
    head, kept = "ref: refs/heads/main", {"objects/keep": "x", "refs/keep": "x"}
    inner = {f".git/{name}": text for name, text in kept.items()}
    store = {f"store/{name}": text for name, text in kept.items()}
    return {
        "plain": {".git/HEAD": head, ".git/config": config.replace("\tworktree = .\n", "")} | inner,
        "bare": {"HEAD": head, "config": config} | kept,
        "bare, detached": {"HEAD": "0" * 40, "config": config} | kept,
        "bare, in a folder": {
            f"a/b/{n}": t for n, t in ({"HEAD": head, "config": config} | kept).items()
        },
        "gitdir": {".git": "gitdir: store", "store/HEAD": head, "store/config": config} | store,
        "commondir": {"HEAD": head, "commondir": "store", "store/config": config} | store,
    }


@pytest.mark.parametrize("layout", layouts(""))
def test_no_layout_that_git_takes_for_a_repository_can_be_written(
    house: Household, layout: str
) -> None:
    ran = house.home / "ran"
    files = layouts(str(ran))[layout]
    workspace, control = house.me.folder / "workspace", house.home / "control"
    for name, text in files.items():
        by_hand(control, name, text)
    deepest = "a/b" if layout == "bare, in a folder" else ""
    assert git_runs_something(house, control / deepest, ran), "the attack itself works"
    ran.unlink()
    for order in (list(files), list(files)[::-1]):
        for name in order:
            write(house, f"workspace/{name}", files[name])
        if (workspace / deepest).is_dir():
            assert not git_runs_something(house, workspace / deepest, ran)
    assert not any(
        path.name == "HEAD" or path.name.startswith(".") for path in workspace.rglob("*")
    )


@pytest.mark.parametrize("folder", ["workspace", "notes"])
@pytest.mark.parametrize("name", ALL_SPELLINGS)
def test_no_name_on_which_programs_act_is_written_in_any_spelling(
    house: Household, folder: str, name: str
) -> None:
    answer = write(house, f"{folder}/{name}", "mine")
    assert "is no name for a file or folder" in answer or "is no path" in answer
    assert not any((house.me.folder / "workspace").iterdir())
    assert not (house.me.folder / "notes").exists()


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_names_are_written(house: Household, name: str) -> None:
    assert "changed; it has" in write(house, f"workspace/{name}", "mine")


@given(st.text() | st.sampled_from(ALL_SPELLINGS))
@example("\u115f")
@example("x" * 300)
@example("é" * 120)
@example("it.md")
@example("\u00ad.\u034fgit")
def test_the_name_that_a_refusal_offers_and_the_file_of_a_note_are_harmless(name: str) -> None:
    assert not file_names.acts(file_names.harmless(name))
    assert not file_names.acts(f"{stem_of(name)}.md")
    for folder in ("workspace", "notes"):
        for inner in (f".x{name}", f"a/.x{name}", f".x{name}/a.md"):
            with pytest.raises(ToolError) as refused:
                sandbox.may_edit(f"{folder}/{inner}")
            _, called, offered = str(refused.value).partition("; call it ")
            if called and "/" not in name:
                path = f"{folder}/{inner.replace(f'.x{name}', offered)}"
                sandbox.may_edit(path)
                sandbox.place(Path("/agent"), Path("/home"), path)


@given(st.text(min_size=1))
def test_other_spellings_of_a_name_act_as_it_does(name: str) -> None:
    for other in (name.swapcase(), f"{name}.", f"{name} ", f"{name[0]}\u034f{name[1:]}"):
        if file_names.acts(name):
            assert file_names.acts(other)


def test_a_refusal_says_which_name_to_take(house: Household) -> None:
    assert write(house, "workspace/a/.gitignore", "x") == (
        "'.gitignore' is no name for a file or folder: git, a shell or an editor could run what"
        " stands there; call it gitignore.txt"
    )
    assert write(house, "notes/x.txt", "x") == (
        "'notes/x.txt' is no note: its name must end in .md; other files go to workspace/"
    )


def test_nothing_is_added_beside_a_head_of_an_older_life(house: Household) -> None:
    by_hand(house.me.folder, "workspace/old/HEAD", "ref: refs/heads/main")
    for path in ("config", "refs/x", "deeper/down"):
        assert "beside a file HEAD" in write(house, f"workspace/old/{path}", "x")
    assert os.listdir(house.me.folder / "workspace" / "old") == ["HEAD"]
    assert "changed" in write(house, "workspace/new/config", "x")


def test_a_workspace_takes_so_many_bytes_and_then_shorter_files_only(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "WORKSPACE_BYTES", 2**20)
    by_hand(house.me.folder, "workspace/big", "x" * (2**20 - 100) + "\nlast\n")
    assert write(house, "workspace/more", "x" * 200) == (
        "workspace/more was not written: the workspace may hold 1 MiB; shorten a file in it, or ask"
        " a person to remove some"
    )
    assert not (house.me.folder / "workspace" / "more").exists()
    shorter = "EDIT_FILE workspace/big\n<<<<<<< SEARCH\nlast\n=======\n>>>>>>> REPLACE"
    assert "changed" in house.result(shorter).body
    assert (
        "changed"
        in house.result(
            "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\nI am full\n>>>>>>> REPLACE"
        ).body
    )


def test_the_file_of_a_note_is_no_place_for_more_than_a_note(house: Household) -> None:
    assert "a note may have 100,000 bytes" in write(house, "notes/big.md", "x" * 100_001)
    assert not (house.me.folder / "notes" / "big.md").exists()
    assert "changed" in write(house, "notes/small.md", "x" * 1000)


def test_a_workspace_takes_so_many_files_and_folders(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "WORKSPACE_FILES", 20)
    written = [write(house, f"workspace/{number}/x", "x") for number in range(11)]
    assert all("changed" in answer for answer in written[:10])
    assert written[10] == (
        "workspace/10/x was not written: the workspace may hold 20 files; write into one that is"
        " there and no longer needed, or ask a person to remove some"
    )
    assert sorted(os.listdir(house.me.folder / "workspace")) == sorted(map(str, range(10)))
    assert "changed" in write(house, "workspace/0/x", "more")


def test_the_check_tells_what_an_older_life_left_and_passes_over_what_desktops_leave(
    house: Household,
) -> None:
    for path in (
        *("workspace/.git/config", "workspace/a/HEAD", "workspace/a/.envrc", "notes/.vscode/x"),
        *("workspace/.DS_Store", "workspace/.x.swp", "notes/.obsidian/app.json", "workspace/x"),
    ):
        by_hand(house.me.folder, path, "x")
    os.mkfifo(house.me.folder / "workspace" / "pipe")
    (house.me.folder / "workspace" / "link").symlink_to(house.home)
    agent = f"agents/{house.hash}"
    told = (
        "git, a shell or an editor may run what stands there; unless you have put it there,"
        " remove it"
    )
    assert list(check.problems(house.home)) == []
    assert list(check.warnings(house.home)) == [
        f"{agent}: {path}: {told}"
        for path in ("notes/.vscode", "workspace/.git", "workspace/a/.envrc", "workspace/a/HEAD")
    ]
    for number in range(30):
        by_hand(house.me.folder, f"workspace/.{number}", "x")
    assert list(check.warnings(house.home))[-1] == f"{agent}: 14 more files of such names"


def test_the_check_looks_in_all_folders_of_an_agent_and_in_its_versions(house: Household) -> None:
    Git(house.me.folder).mend(("MEMORY.md",))
    for path in (
        *("HEAD", "diary/HEAD", "summaries/a/.envrc", ".git/config", ".git/hooks/post-commit"),
        *(".git/hooks/pre-push.sample", ".git/commondir", ".cursor", "0123456789abcdef.md"),
    ):
        by_hand(house.me.folder, path, "x")
    (house.me.folder / ".git" / "refs" / "heads" / "main").symlink_to(house.home / "elsewhere")
    told = [line.partition(": git, a shell")[0] for line in check.warnings(house.home)]
    assert told == [
        f"agents/{house.hash}: {path}"
        for path in (
            *(".git/commondir", ".git/config", ".git/hooks/post-commit", ".git/refs/heads/main"),
            *("HEAD", "diary/HEAD", "summaries/a/.envrc"),
        )
    ]


@pytest.mark.parametrize("name", ["HEAD", "objects/ab", "refs/heads/deep", "index"])
def test_versions_are_not_written_through_a_link(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").mkdir()
    git = Git(tmp_path / "folder")
    git.mend(("MEMORY.md",))
    path = tmp_path / "folder" / ".git" / name
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(VersionError, match=f"{name} is a link: remove it"):
        Git(tmp_path / "folder").mend(("MEMORY.md",))


def test_versions_are_kept_without_running_what_their_repository_names(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "MEMORY.md").write_text("one")
    git = Git(tmp_path)
    git.mend(("MEMORY.md",))
    (tmp_path / ".git" / "config").write_text(FSMONITOR.format(ran=ran))
    for hook in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        by_hand(tmp_path / ".git", f"hooks/{hook}", f"#!/bin/sh\ntouch {ran}\n")
        (tmp_path / ".git" / "hooks" / hook).chmod(0o755)
    at, author = datetime(2026, 3, 2, tzinfo=UTC), Author("Dory", "dory@localhost")
    head = git.commit("", {"MEMORY.md": b"one"}, author, at, "one")
    git.mend(("MEMORY.md",))
    after = git.commit(head, {"MEMORY.md": b"two"}, author, at, "two")
    assert git.head() == after != head
    assert not ran.exists() and git_runs_something(Household(tmp_path / "home"), tmp_path, ran)
