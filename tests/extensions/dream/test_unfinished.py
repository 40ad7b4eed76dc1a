"""While a person is in the midst of a merge or the like in an agent's folder, the versions wait."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dory.errors import DoryError, VersionError
from dory.extensions.dream import apply
from tests.support.household import bodies
from tests.support.processes import PATIENCE
from tests.support.sleeping import Answering, Sleeper, edit, listed
from tests.support.versioned import Versioned
from tests.support.versioned import edit as own_edit

LINE = edit("USER.md", "", "Ada likes tea")
SECOND = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.editor=true"]


def git(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *SECOND, *command], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )


def conflicting(house: Versioned) -> Path:
    """Two branches that say different things of one line."""
    folder = house.me.folder
    house.write("USER.md", "Ada's birthday is on 4 May\n")
    house.extensions.step()
    git(folder, "checkout", "-q", "-b", "other")
    (folder / "USER.md").write_text("Ada's birthday is on 5 May\n")
    git(folder, "commit", "-qam", "five")
    git(folder, "checkout", "-q", "main")
    (folder / "USER.md").write_text("Ada's birthday is on 6 May\n")
    git(folder, "commit", "-qam", "six")
    house.extensions.step()
    return folder


def reverted(folder: Path) -> None:
    git(folder, "revert", "--no-edit", "other")


OPERATIONS: dict[str, Callable[[Path], object]] = {
    "merge": lambda folder: git(folder, "merge", "other"),
    "rebase": lambda folder: git(folder, "rebase", "other"),
    "cherry-pick": lambda folder: git(folder, "cherry-pick", "other"),
    "revert": reverted,
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_person_has_begun_with_git_is_left_alone_until_it_is_ended(
    tmp_path: Path, operation: str
) -> None:
    house = Versioned(tmp_path)
    folder = conflicting(house)
    OPERATIONS[operation](folder)
    assert "<<<<<<< " in house.read("USER.md")
    state = git(folder, "status").stdout
    commits, head = git(folder, "rev-list", "--all", "--count").stdout, house.versions.head()
    for _ in range(3):
        house.extensions.step()
        house.respond(own_edit("VOICE.md", "", "warm"))
    house.wake()
    assert git(folder, "rev-list", "--all", "--count").stdout == commits
    assert house.versions.head() == head
    assert git(folder, "status").stdout.startswith(state.partition("Unmerged")[0])
    told = [body for body in bodies(house.me.context.entries, "notice") if "unfinished" in body]
    assert len(told) == 2 and all(f"a {operation} is unfinished in agents/" in one for one in told)
    with pytest.raises(VersionError, match=f"a {operation} is unfinished"):
        house.extension.restore(head[:8])
    assert house.extension.log("").startswith(head[:8])
    assert house.extension.restore("").startswith(head[:8]), "a list can be looked at"
    house.write("USER.md", "Ada's birthday is on 5 May\n")
    git(folder, "add", "USER.md")
    ended = git(folder, "commit", "-qm", "by hand") if operation == "merge" else None
    if ended is None:
        git(folder, operation, "--continue")
    house.extensions.step()
    assert git(folder, "status", "--porcelain").stdout == ""
    assert house.log()[0][1] == "VOICE.md: 3 lines added"
    assert "<<<<" not in git(folder, "log", "-p", "--all").stdout
    assert "unfinished" not in "".join(house.told[len(told) :])


def test_conflict_marks_are_never_committed_also_when_git_has_no_merge_under_way(
    tmp_path: Path,
) -> None:
    house = Versioned(tmp_path)
    folder = conflicting(house)
    git(folder, "checkout", "-q", "HEAD~1")
    house.write("USER.md", "Ada's birthday is on 7 May\n")
    git(folder, "stash")
    git(folder, "checkout", "-q", "main")
    git(folder, "stash", "pop")
    assert "<<<<<<< " in house.read("USER.md")
    before = len(house.log())
    for _ in range(3):
        house.extensions.step()
    assert len(house.log()) == before
    assert sum("USER.md holds conflict marks of git" in line for line in house.told) == 1
    house.write("USER.md", "Ada's birthday is on 7 May\n")
    house.extensions.step()
    assert house.log()[0] == ("a person", "USER.md: Ada's birthday is on 7 May (was: … 6 May)")


def test_an_example_of_an_edit_block_is_no_conflict(tmp_path: Path) -> None:
    house = Versioned(tmp_path)
    house.write("MEMORY.md", "<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n")
    house.extensions.step()
    assert house.log()[0][1] == "MEMORY.md: 4 lines added"


def test_no_dream_begins_and_none_is_completed_while_a_merge_is_unfinished(tmp_path: Path) -> None:
    dreamer = Sleeper(tmp_path, Answering(listed("USER.md"), LINE, "DONE"))
    dreamer.step()
    dreamer.fade()
    mark = dreamer.me.folder / ".git" / "MERGE_HEAD"
    mark.write_text(dreamer.versions.head())
    with pytest.raises(DoryError, match="no Dream now: a merge is unfinished"):
        dreamer.extension.force("")
    dreamer.house.clock.at = dreamer.house.clock.at.replace(hour=23)
    dreamer.step()
    dreamer.wake()
    dreamer.step()
    assert dreamer.model.asked == [] and dreamer.log() == []  # type: ignore[attr-defined]
    mark.unlink()
    dreamer.step()
    assert dreamer.history.dreamed == 1 and len(dreamer.log()) == 1


def test_a_merge_that_is_begun_while_a_dream_is_under_way_makes_it_wait(tmp_path: Path) -> None:
    dreamer = Sleeper(tmp_path, Answering(listed("USER.md"), LINE, "DONE"))
    dreamer.step()
    dreamer.fade()
    dreamer.extension.force("")
    dreamer.extensions.step()  # it dreams now
    mark = dreamer.me.folder / ".git" / "MERGE_HEAD"
    mark.write_text(dreamer.versions.head())
    dreamer.step()
    assert dreamer.log() == [] and dreamer.history.dreamed == 0
    assert not (dreamer.me.folder / apply.NAME).exists()
    mark.unlink()
    dreamer.model.answers = [listed("USER.md"), LINE, "DONE"]  # type: ignore[attr-defined]
    dreamer.sleep()
    assert len(dreamer.log()) == 1 and dreamer.history.dreamed == 1
