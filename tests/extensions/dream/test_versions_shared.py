"""The repository of an agent's texts while others use it: a person who saves a file or uses git, a
git that holds a lock, a kill.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dory.errors import VersionError
from dory.extensions.dream import versions
from dory.extensions.dream.versions import PERSON, agent
from dory.text.prompt_files import DURABLE
from tests.support.household import NOON, Killed, mishap
from tests.support.versioned import Texts, meanwhile

ME = agent("dory-5d41402a", "5d41402abc4b2a76" * 4)


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    return Texts(tmp_path)


def put(texts: Texts, held: dict[str, bytes]) -> str:
    """The name of the version with these files."""
    for name, content in held.items():
        texts.write(name, content)
    texts.versions.take_in()
    return texts.versions.head()


@pytest.mark.parametrize("lock", ["refs/heads/main.lock", "index.lock", "HEAD.lock"])
def test_the_lock_of_a_git_that_lives_is_left_alone_even_by_a_start(
    texts: Texts, lock: str
) -> None:
    path = texts.folder / ".git" / lock
    path.touch()
    texts.write("USER.md", "one\n")
    for _ in range(2):
        if lock.startswith("refs"):
            with pytest.raises(VersionError, match="locked"):
                texts.versions.take_in()
        else:
            texts.versions.take_in()
        assert texts.versions.open() == texts.open() == [] and path.exists()


def test_a_stale_lock_is_removed_at_the_next_start_but_not_in_a_process_that_runs(
    texts: Texts,
) -> None:
    path = texts.folder / ".git" / "refs" / "heads" / "main.lock"
    path.touch()
    os.utime(path, (1, 1))
    assert texts.versions.open() == [] and path.exists()
    assert (
        texts.open() == [".git/refs/heads/main.lock, left by a process that was killed, is removed"]
        and not path.exists()
    )


def test_what_was_seen_while_another_git_was_at_work_is_kept_by_whom_when_and_as_it_was(
    texts: Texts,
) -> None:
    lock = texts.folder / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    for author, text in (
        (PERSON, "one\n"),
        (PERSON, "one\ntwo\n"),
        (ME, "one\ntwo\nthree\n"),
        (PERSON, "four\n"),
    ):
        texts.write("USER.md", text)
        with pytest.raises(VersionError, match="locked"):
            texts.versions.commit(author, f"by {author.name}", "USER.md")
        assert texts.versions.changed() == ["USER.md"]
    lock.unlink()
    assert (
        texts.versions.commit(PERSON, "later") == texts.versions.head()
        and texts.versions.changed() == []
    )
    kept = [
        (version.author, version.reason, texts.versions.contents(version.sha)["USER.md"])
        for version in texts.versions.log()
    ][:-1]
    assert kept[::-1] == [
        (PERSON, "by a person", "one\ntwo\n"),
        (ME, f"by {ME.name}", "one\ntwo\nthree\n"),
        (PERSON, "by a person", "four\n"),
    ]
    assert [version.at for version in texts.versions.log()] == [
        NOON + timedelta(seconds=second) for second in (4, 3, 2, 1)
    ]


def test_the_index_is_left_to_a_git_that_holds_it_and_what_was_staged_is_dropped_after(
    texts: Texts,
) -> None:
    texts.write("VOICE.md", "warm\n")
    texts.git("add", "VOICE.md")
    index, lock = (texts.folder / ".git" / name for name in ("index", "index.lock"))
    lock.touch()
    staged = index.read_bytes()
    texts.write("USER.md", "one\n")
    texts.versions.commit(ME, "", "USER.md")
    assert index.read_bytes() == staged
    lock.unlink()
    texts.write("USER.md", "two\n")
    texts.versions.commit(ME, "", "USER.md")
    assert (
        texts.git("status", "--porcelain") == "?? VOICE.md\n"
        and (texts.folder / "VOICE.md").read_text() == "warm\n"
    )


def test_after_a_person_goes_back_with_git_the_files_count_as_changed(texts: Texts) -> None:
    put(texts, {"USER.md": b"one\n"})
    os.utime(texts.folder / "USER.md", (1, 1))
    assert texts.versions.changed() == []
    texts.git("reset", "-q", "--soft", "HEAD~1")
    assert texts.versions.changed() == ["USER.md"]


@pytest.mark.parametrize(
    ("date", "year"), [("999999999999", 9999), ("99999999999999999", 9999), ("0", 1970)]
)
def test_an_odd_date_of_a_commit_is_no_damage(
    texts: Texts, monkeypatch: pytest.MonkeyPatch, date: str, year: int
) -> None:
    put(texts, {"USER.md": b"one\n"})
    raw = texts.git("cat-file", "commit", "HEAD")
    odd = texts.folder / "odd"
    odd.write_text(
        "\n".join(
            line.replace(line.split()[-2], date) if line.startswith("committer ") else line
            for line in raw.split("\n")
        )
    )
    sha = texts.git("hash-object", "-t", "commit", "-w", "--literally", "odd").strip()
    texts.git("update-ref", "HEAD", sha)
    assert next(texts.versions.log()).at.year == year
    assert len(texts.versions.ages("USER.md")) == 1 and texts.versions.ages("USER.md")[
        0
    ] < datetime.max.replace(tzinfo=UTC)


def test_a_file_is_written_only_as_long_as_it_holds_what_it_is_taken_to_hold(texts: Texts) -> None:
    put(texts, {"USER.md": b"caf\xe9\n"})
    for wrong in (b"caf\xe8\n", b""):
        with pytest.raises(VersionError, match="somebody has just saved USER"):
            texts.versions.write("USER.md", wrong, b"x")
    assert (
        texts.versions.raw()
        == {"USER.md": b"caf\xe9\n", "MEMORY.md": b"", "VOICE.md": b""}
        == texts.versions.raw(texts.versions.head())
    )
    with (
        meanwhile("_write_all", 1, lambda: texts.write("VOICE.md", "cold\n")),
        pytest.raises(VersionError, match="somebody has just saved VOICE"),
    ):
        texts.versions.write(
            "VOICE.md", b"", b"warm\n"
        )  # the look is the last thing before the name changes hands
    assert texts.versions.raw()["VOICE.md"] == b"cold\n"
    (texts.folder / "VOICE.md").unlink()
    texts.versions.write("USER.md", b"caf\xe9\n", b"caf\xe9s\n")
    texts.versions.write("VOICE.md", b"", b"warm\n")
    assert texts.versions.raw()["USER.md"] == b"caf\xe9s\n" and texts.versions.changed() == [
        "USER.md",
        "VOICE.md",
    ]


OLD, NEW = ({name: f"{text} {name}\n".encode() for name in DURABLE} for text in ("old", "new"))


def test_a_kill_at_any_write_of_a_restore_leaves_all_of_it_or_nothing(texts: Texts) -> None:
    completed = 0
    outcomes = list[bool]()
    met = True
    old = put(texts, OLD)
    while met:
        new = put(texts, NEW)
        with mishap(len(outcomes) + 1, Killed()) as kill:
            texts.versions.restore(old, "as asked")
        with mishap(len(outcomes) % 9 + 1, Killed()):  # the start that completes it, too
            texts.open()
        completed += len(texts.open())
        met = kill.struck
        newest = next(texts.versions.log())
        restored = newest.sha != new
        assert texts.versions.raw() == (OLD if restored else NEW) and texts.versions.changed() == []
        assert not restored or (newest.reason, newest.before) == ("as asked", new)
        outcomes.append(restored)
    assert (
        completed
        and True in outcomes
        and outcomes == sorted(outcomes)
        and not (texts.folder / ".git" / "RESTORING").exists()
    )


def test_what_a_person_saves_after_a_kill_came_into_a_restore_is_left_as_it_is(
    texts: Texts,
) -> None:
    for at in range(20, 60):
        old = put(texts, OLD)
        new = put(texts, NEW)
        with mishap(at, Killed()):
            texts.versions.restore(old, "as asked")
        if (
            texts.versions.head() != new
            and (texts.folder / "VOICE.md").read_bytes() == NEW["VOICE.md"]
        ):
            break
    texts.write("VOICE.md", "by hand\n")
    texts.open()
    assert texts.versions.raw() == OLD | {
        "VOICE.md": b"by hand\n"
    } and texts.versions.changed() == ["VOICE.md"]


def test_a_restore_that_the_disk_refuses_half_way_is_completed_by_whoever_looks_next(
    texts: Texts,
) -> None:
    old = put(texts, OLD)
    for at in range(1, 80, 2):
        new = put(texts, NEW)
        with mishap(at, OSError(28, "no space left")) as met:
            texts.versions.restore(old, "as asked")
        texts.versions.take_in()
        assert texts.versions.raw() in (OLD, NEW) and "Edited by hand." not in [
            version.reason for version in texts.versions.log() if version.before == new
        ]
        if not met.struck:
            break
    assert at > 20


@pytest.mark.parametrize(
    ("function", "left"),
    [("Versions.restore", "new"), ("Worktree.go_over", "old"), ("Worktree.write", "old")],
)
def test_what_a_person_saves_just_before_a_restore_writes_is_not_overwritten(
    texts: Texts, function: str, left: str
) -> None:
    old = put(texts, OLD)
    put(texts, NEW)
    with (
        meanwhile(function, 1, lambda: texts.write("USER.md", "by hand\n")),
        pytest.raises(VersionError, match=r"somebody has .*saved"),
    ):
        texts.versions.restore(old, "as asked")
    assert texts.versions.raw()["USER.md"] == b"by hand\n"
    texts.versions.take_in()
    assert texts.versions.raw() == {"old": OLD, "new": NEW}[left] | {"USER.md": b"by hand\n"}
    newest = next(texts.versions.log())
    assert (
        newest.reason == "Edited by hand."
        and texts.versions.raw(newest.before) == {"old": OLD, "new": NEW}[left]
    )


def test_how_far_blame_looks_back_is_bounded_by_the_lines_that_it_compares(texts: Texts) -> None:
    lines = versions.COMPARED // 2
    shas = 6
    for number in range(shas):
        put(texts, {"USER.md": f"{number}\n".encode() + b"x\n" * lines})
    ages = texts.versions.ages("USER.md")
    assert len(ages) == lines + 1 and ages[0] == NOON + timedelta(seconds=shas + 1)
    assert NOON + timedelta(seconds=2) < ages[-1] < ages[0]
