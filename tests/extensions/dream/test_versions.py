"""The repository of an agent's texts: the real git reads and writes it, and it survives a kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dory.errors import VersionError
from dory.extensions.dream.versions import DREAM, PERSON, Versions, agent
from dory.process.jobs import Job
from tests.support.household import NOON, Killed, Time, mishap
from tests.support.processes import ROOT
from tests.support.versioned import Texts

ME = agent("dory-5d41402a", "5d41402abc4b2a76" * 4)
EVER = """
import itertools, pathlib, sys
from dory import clock
from dory.extensions.dream.versions import PERSON, Versions

folder = pathlib.Path(sys.argv[1])
versions = Versions(folder, clock.utc, str)
for number in itertools.count():
    (folder / "USER.md").write_text(f"{number}\\n")
    versions.commit(PERSON, "x")
    print(number, flush=True)
"""


@pytest.fixture
def texts(tmp_path: Path) -> Iterator[Texts]:
    folder = Texts(tmp_path)
    yield folder
    assert folder.git("status", "--porcelain") == "" and folder.git("branch", "--show-current") in (
        "main\n",
        "mine\n",
    )


def test_git_reads_who_changed_what_when_and_why(texts: Texts) -> None:
    texts.write("USER.md", "Ada's birthday is 4 May\nShe likes tea\n")
    assert texts.versions.commit(ME, "She said so.") == texts.versions.head()
    texts.write("USER.md", "Ada's birthday is 5 May\nShe likes tea\n")
    texts.write("MEMORY.md", "the key is hunter2\n")
    texts.versions.commit(DREAM, "She corrected it; hunter2.", "USER.md")
    texts.versions.take_in()
    assert texts.git("log", "--format=%an|%s|%b|%cI").split("\n")[:8] == [
        "a person|MEMORY.md: + the key is [secret]|Edited by hand.",
        "|2026-03-02T12:00:04+00:00",
        "Dream|USER.md: Ada's birthday is 5 May (was: … 4 May)|She corrected it; [secret].",
        "|2026-03-02T12:00:03+00:00",
        "dory-5d41402a|USER.md: 2 lines added|She said so.",
        "|2026-03-02T12:00:02+00:00",
        "Dory|The texts as they stood when their versions began||2026-03-02T12:00:01+00:00",
        "",
    ]
    assert [
        line.split("(")[1].split()[0] for line in texts.git("blame", "USER.md").splitlines()
    ] == ["Dream", "dory-5d41402a"]
    assert texts.versions.ages("USER.md") == [
        NOON + timedelta(seconds=3),
        NOON + timedelta(seconds=2),
    ]
    shown = texts.git("show", "HEAD~1", "--format=")
    assert (
        shown[shown.index("@@") :]
        == texts.versions.diff(list(texts.versions.log())[1].sha)
        .partition("\n")[2]
        .partition("\n")[2]
    )
    texts.git("fsck", "--strict", "--full")


def test_what_a_person_commits_and_packs_with_git_is_history_like_all_else(texts: Texts) -> None:
    texts.write("USER.md", "one\n")
    texts.versions.take_in()
    texts.write("USER.md", "one\ntwo\n")
    texts.git("add", "USER.md")
    texts.git(
        "-c",
        "commit.gpgsign=false",
        "-c",
        "core.hooksPath=/none",
        "commit",
        "-q",
        "-m",
        "Two as well",
    )
    assert texts.versions.changed() == []
    texts.git("gc", "-q")
    texts.write("USER.md", "one\ntwo\nthree\n")
    texts.versions.commit(ME, "")
    texts.git("switch", "-q", "-c", "mine")
    texts.write("VOICE.md", "warm\n")
    texts.versions.take_in()
    assert [(version.subject, version.author.name) for version in texts.versions.log()][:4] == [
        ("VOICE.md: + warm", "a person"),
        ("USER.md: + three", ME.name),
        ("Two as well", "Mallory"),
        ("USER.md: + one", "a person"),
    ]
    assert len(texts.versions.ages("USER.md")) == 3
    assert (
        texts.open() == []
        and texts.versions.contents(texts.versions.head())["USER.md"] == "one\ntwo\nthree\n"
    )


def test_files_are_kept_byte_for_byte_whatever_they_hold_and_may_come_and_go(texts: Texts) -> None:
    strange = [
        b"caf\xe9\r\n\x00\x0c",
        b"caf\xe8\r\n\x00\x0c",
        b"",
        b"\n\n",
        b"no newline",
        "日本\u2028".encode(),
    ]
    for content in strange:
        texts.write("VOICE.md", content)
        texts.versions.take_in()
        assert texts.git("status", "--porcelain") == ""
    (texts.folder / "VOICE.md").unlink()
    assert texts.versions.changed() == ["VOICE.md"] and texts.versions.raw()["VOICE.md"] == b""
    texts.versions.take_in()
    assert texts.subjects()[:2] == ["VOICE.md: - 日本", "VOICE.md: 日本 (was: no newline)"]
    assert texts.subjects()[5] == r"VOICE.md: caf\xe8 (was: caf\xe9)"
    shas = [version.sha for version in texts.versions.log()][1:7]
    for sha, content in zip(reversed(shas), strange, strict=True):
        texts.versions.restore(sha, "so")
        assert (
            (texts.folder / "VOICE.md").read_bytes() == content == texts.versions.raw()["VOICE.md"]
        )
    assert texts.versions.commit(PERSON, "again") is None


def test_an_edit_is_seen_however_the_editor_writes_it(texts: Texts) -> None:
    (texts.folder / "note.md").write_text("no text of ours\n")
    for number, rename in enumerate([False, True, False, True]):
        path = texts.folder / ("draft" if rename else "MEMORY.md")
        path.write_text(
            f"{number}\n"
        )  # of the same length, and perhaps within one tick of the clock of the file system
        if rename:
            path.rename(texts.folder / "MEMORY.md")
        assert texts.versions.changed() == ["MEMORY.md"]
        texts.versions.take_in()
        assert texts.versions.changed() == []
    os.utime(texts.folder / "MEMORY.md", (1, 1))
    assert texts.versions.changed() == texts.versions.changed() == []
    texts.write("MEMORY.md", "4\n")
    assert texts.versions.changed() == ["MEMORY.md"]
    texts.versions.take_in()


def test_a_kill_between_any_two_writes_leaves_what_the_next_start_mends(texts: Texts) -> None:
    for at in range(1, 100):
        texts.write("USER.md", f"fact {at}\n")
        with mishap(at, Killed()) as met:
            texts.versions.commit(ME, "because")
        mended = texts.open()
        assert all("left by a process that was killed" in line for line in mended)
        staged = (
            {line[:2] for line in texts.git("status", "--porcelain").splitlines()}
            if at % 5 == 0
            else set()
        )
        assert staged <= {" M", "??"}, "the index is that of the newest commit"
        texts.versions.take_in()
        assert texts.versions.contents(texts.versions.head())["USER.md"] == f"fact {at}\n"
        if not met.struck:
            break
    assert at > 15 and len(texts.subjects()) == at + 1
    texts.git("fsck", "--strict", "--no-dangling")


def test_a_kill_while_the_repository_is_made_is_made_up_for(tmp_path: Path) -> None:
    for at in range(1, 200, 4):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / "MEMORY.md").write_text("a fact\n")
        with mishap(at, Killed()) as met:
            Versions(folder, Time(), str).open()
        versions = Versions(folder, Time(), str)
        versions.open()
        assert [version.subject for version in versions.log()] == [
            "The texts as they stood when their versions began"
        ]
        assert (
            versions.contents(versions.head())["MEMORY.md"] == "a fact\n"
            and versions.changed() == []
        )
        if not met.struck:
            break
    assert at > 20


def test_a_process_that_is_killed_while_it_commits_keeps_nobody_from_committing(
    texts: Texts,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", EVER, str(texts.folder)], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    texts.open()
    texts.versions.take_in()
    assert len(texts.subjects()) >= 6 and texts.versions.changed() == []
    texts.git("fsck", "--strict")


def test_who_commits_at_the_same_time_is_told_and_nothing_is_lost(texts: Texts) -> None:
    texts.write("USER.md", "one\n")
    lock = texts.folder / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(
        VersionError,
        match=r"is locked, for another git is at work there: .*; if none is, rm .*/main\.lock",
    ):
        texts.versions.take_in()
    lock.unlink()
    texts.versions.take_in()
    assert texts.subjects()[0] == "USER.md: + one"


@pytest.mark.parametrize("what", ["HEAD", "refs/heads/main", "commit", "blob"])
def test_a_damaged_repository_is_refused_in_one_line_and_left_as_it_is(
    tmp_path: Path, what: str
) -> None:
    texts = Texts(tmp_path)
    texts.write("USER.md", "one\n")
    sha = texts.versions.commit(ME, "") or ""
    named = {"commit": sha, "blob": texts.git("rev-parse", "HEAD:USER.md").strip()}
    path = (
        texts.folder
        / ".git"
        / (f"objects/{named[what][:2]}/{named[what][2:]}" if what in named else what)
    )
    path.write_bytes(b"\xff\x00 not what was here")
    before = {path: path.read_bytes() for path in texts.folder.rglob("*") if path.is_file()}
    with pytest.raises(
        VersionError,
        match=r"\.git is damaged \(.*\): mend it with git, or move it away .* your texts are"
        r" untouched$",
    ):
        texts.open()
    assert {path: path.read_bytes() for path in texts.folder.rglob("*") if path.is_file()} == before


def test_something_else_in_the_place_of_a_text_or_of_the_repository_is_told(
    texts: Texts, tmp_path: Path
) -> None:
    (texts.folder / "USER.md").symlink_to(texts.settings)
    with pytest.raises(VersionError, match=r"USER.md is no regular file"):
        texts.versions.changed()
    (texts.folder / "USER.md").unlink()
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text("gitdir: elsewhere\n")
    with pytest.raises(VersionError, match=r"\.git is no folder"):
        Versions(other, lambda: datetime.now(UTC), str).open()


def test_others_may_read_while_the_loop_commits(texts: Texts) -> None:
    seen: list[int] = []

    def read() -> None:
        while len(seen) < 2 or seen[-1] < 16:
            head = texts.versions.head()
            lines = texts.versions.contents(head)["USER.md"].count("\n")
            assert len(list(texts.versions.log())) > lines <= len(texts.versions.ages("USER.md"))
            seen.append(lines + 1)

    job = Job(read, "reader")
    for number in range(15):
        with open(texts.folder / "USER.md", "a") as file:
            file.write(f"fact {number}\n")
        texts.versions.take_in()
    job.result()
    assert seen == sorted(seen)


def test_a_repository_that_is_a_link_gets_no_commit(tmp_path: Path) -> None:
    project, folder = tmp_path / "project", tmp_path / "agent"
    for path in (project, folder):
        path.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    before = {str(path): path.stat().st_mtime_ns for path in project.rglob("*")}
    (folder / ".git").symlink_to(project / ".git")
    (folder / "USER.md").write_text("Ada likes tea\n")
    with pytest.raises(
        VersionError, match=r"\.git is no folder: move it away, and the versions begin"
    ):
        Versions(folder, lambda: datetime(2026, 3, 2, tzinfo=UTC), str).commit(DREAM, "x")
    assert {str(path): path.stat().st_mtime_ns for path in project.rglob("*")} == before
