"""What a Dream changes is made as a whole or not at all, through kills and failing disks."""

import json
from itertools import count
from pathlib import Path

import pytest

from dory import check
from dory.extensions.dream import apply
from dory.extensions.dream.apply import Revision
from dory.extensions.dream.versions import DREAM
from tests.support.household import Killed, copy_of, mishap
from tests.support.sleeping import CHANGES, Answering, Sleeper, edit, listed, sleeper


@pytest.mark.parametrize("changes", [1, 3])
@pytest.mark.parametrize(
    "error", [Killed(), OSError(28, "No space left on device")], ids=["kill", "error"]
)
def test_a_kill_or_an_error_at_any_write_is_completed_and_nothing_is_done_twice(
    tmp_path: Path, changes: int, error: BaseException
) -> None:
    made = CHANGES if changes == 3 else edit("USER.md", "", "Ada's birthday is on 4 May")
    answers = [listed("USER.md", "MEMORY.md"), made, "DONE"]
    before = sleeper(tmp_path / "0")
    dreamed = list[int]()
    step = 7 if changes == 1 else 31  # a step of 1 takes two minutes
    for at in count(3, step):
        home = copy_of(before.house.home, tmp_path / str(at))
        model = Answering(*answers)
        dreamer = Sleeper(tmp_path, model, house=before.house)
        dreamer.wake(home)
        dreamer.extension.force("")
        with mishap(at, error) as mischance:
            dreamer.step()
        if isinstance(error, Killed):
            dreamer.wake(home)
        for _ in range(2):
            dreamer.step()
        dreamed.append(dreamer.history.dreamed)
        check_outcome(dreamer, changes if dreamed[-1] else 0, at)
        dreamer.post()
        told = [text for text in dreamer.house.said("dev", "NOTICE") if text.startswith("Dream: ")]
        assert len(told) == bool(dreamed[-1]), at
        assert dreamer.log("a person") == before.log("a person"), at
        assert list(check.problems(home)) == [], at
        if not mischance.struck:
            break
        if not dreamed[-1]:
            model.answers = [*answers]
            dreamer.sleep()
            assert dreamer.history.dreamed == 2, at
            assert dreamer.read("USER.md").count("birthday") == 1, at
    assert isinstance(error, OSError) or set(dreamed) == {0, 2}
    assert dreamed[-1] == 2 and at > 40


def check_outcome(dreamer: Sleeper, changes: int, at: int) -> None:
    """All ``changes`` are made, each once; with none of them, it was struck before it began."""
    assert [commit.reason.count("\n  ") for commit in dreamer.log()] == (
        [changes] if changes else []
    ), at
    assert len(dreamer.records()) == (1 if changes else 0), at
    assert dreamer.read("USER.md").count("birthday") == (1 if changes else 0), at
    assert not (dreamer.me.folder / apply.NAME).exists(), at


def killed(before: Sleeper, folder: Path, changes: str = CHANGES) -> Sleeper:
    """Killed as soon as the revision has begun, before its first file is written."""
    for at in count(1):
        home = copy_of(before.house.home, folder / str(at))
        interrupted = Sleeper(
            folder, Answering(listed("USER.md", "MEMORY.md"), changes, "DONE"), house=before.house
        )
        interrupted.wake(home)
        interrupted.extension.force("")
        with mishap(2 * at, Killed()):
            interrupted.step()
        if (interrupted.me.folder / apply.NAME).exists():
            interrupted.wake(home)
            break
    return interrupted


@pytest.fixture(scope="module")
def struck(tmp_path_factory: pytest.TempPathFactory) -> Sleeper:
    folder = tmp_path_factory.mktemp("struck")
    return killed(sleeper(folder / "0"), folder)


@pytest.fixture
def interrupted(struck: Sleeper, tmp_path: Path) -> Sleeper:
    """The next process in a copy of what such a kill has left."""
    home = struck.me.home
    next_one = Sleeper(tmp_path, struck.model, house=struck.house)
    next_one.wake(copy_of(home, tmp_path / "home"))
    return next_one


@pytest.mark.parametrize("anew", [False, True], ids=["", "the versions begin anew"])
def test_what_a_kill_left_is_told_once_also_when_it_is_completed_while_an_event_is_told(
    interrupted: Sleeper, anew: bool
) -> None:
    if anew:
        (interrupted.me.folder / ".git").rename(interrupted.me.folder / "workspace" / "away")
    interrupted.me.notice("the first event of the process, told in one commit with the response")
    interrupted.house.respond("WAIT")
    interrupted.step()
    assert (
        len(interrupted.records()) == 1
        and interrupted.history.dreamed == 2
        and not any("failed" in told for told in interrupted.told)
    )


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("Ada's birthday is on 4 May\n", "Ada's birthday is on 4 May\nAda likes tea\n"),
        (
            "Ada's birthday is on 4 May\nBob was here\n",
            "Ada's birthday is on 4 May\nBob was here\nAda likes tea\n",
        ),
    ],
)
def test_what_stands_in_the_files_after_a_kill_is_the_dreams_or_stays_as_somebody_wrote_it(
    interrupted: Sleeper, written: str, left: str
) -> None:
    interrupted.write("USER.md", written)
    interrupted.step()
    by_hand = "Bob" in written
    assert (
        interrupted.read("USER.md") == left
        and interrupted.history.dreamed == 2
        and len(interrupted.records()) == 1
    )
    assert [version.author.name for version in interrupted.versions.log()][:3].count(
        "a person"
    ) == by_hand
    assert (
        any(
            "a change of the Dream was dropped: USER.md would not change" in told
            for told in interrupted.told
        )
        == by_hand
    )


def test_a_revision_that_an_older_version_has_begun_is_completed(interrupted: Sleeper) -> None:
    path = interrupted.me.folder / apply.NAME
    begun = json.loads(path.read_text())
    for name in ("asked", "limited"):
        del begun[name]
    path.write_text(json.dumps(begun))
    interrupted.write("USER.md", "Ada's birthday is on 4 May\n")
    interrupted.versions.commit(DREAM, f"She told it.\n\nDream: {begun['record']} 1/3", "USER.md")
    interrupted.write("MEMORY.md", "The release is on Monday\n")  # its commit did not come about
    interrupted.step()
    assert interrupted.read("USER.md") == "Ada's birthday is on 4 May\nAda likes tea\n"
    assert [(made.subject, made.reason[-3:]) for made in interrupted.log()] == [
        ("USER.md: + Ada's birthday is on 4 May", "1/3"),
        ("USER +1, MEMORY +1 −1", begun["record"][-3:]),
    ]
    assert interrupted.log("a person") == []
    assert len(interrupted.records()) == 1 and interrupted.history.dreamed == 2
    assert list(check.problems(interrupted.me.home)) == []


def test_dream_json_has_a_version_and_reads_back(interrupted: Sleeper) -> None:
    path = interrupted.me.folder / apply.NAME
    found = apply.read_pending(path)
    assert json.loads(path.read_text())["version"] == apply.VERSION == 1
    assert (
        found
        and found.cursor == 2
        and [change.name for change in found.changes] == ["USER.md", "MEMORY.md", "USER.md"]
    )


def test_what_was_dropped_after_a_kill_is_recorded_and_life_does_not_count_it(
    interrupted: Sleeper,
) -> None:
    interrupted.write("MEMORY.md", "The release is on Tuesday\n")
    interrupted.step()
    assert interrupted.read("MEMORY.md") == "The release is on Tuesday\n"
    (made,) = interrupted.log()
    assert made.subject == "USER +2"
    assert "MEMORY" not in made.reason
    assert interrupted.me.life.tail(1).endswith(
        "gist=history 1 to 2: 2 of 3 changes made, 1 refused or dropped◲\n"
    )
    (record,) = interrupted.records()
    told = record.partition("\n## What was dropped when the changes were made\n")[2]
    assert (
        "- It was moved. (the search text 'Friday' is not in MEMORY.md" in told
        and "    EDIT_FILE MEMORY.md" in told
        and "## What it studied" in record
    )
    assert list(check.problems(interrupted.me.home)) == []


def test_a_revision_is_completed_also_when_the_cursor_of_the_history_cannot_be_read(
    interrupted: Sleeper,
) -> None:
    interrupted.write("USER.md", "Ada's birthday is on 4 May\n")  # the kill came before its commit
    (interrupted.me.folder / ".cursor").write_text("two")
    interrupted.step()
    interrupted.step()
    assert (
        interrupted.read("USER.md") == "Ada's birthday is on 4 May\nAda likes tea\n"
        and len(interrupted.log()) == 1
        and len(interrupted.records()) == 1
    )
    assert (
        any(".cursor holds no number" in told for told in interrupted.told)
        and not (interrupted.me.folder / apply.NAME).exists()
    )


def test_life_tells_of_a_dream_once_also_when_that_could_not_be_written_at_first(
    interrupted: Sleeper, tmp_path: Path
) -> None:
    home = interrupted.me.home
    for at in count(1):
        interrupted.wake(copy_of(home, tmp_path / f"copy {at}"))
        interrupted.me.listeners.clear()
        interrupted.versions.open()
        made = Revision(interrupted.me, interrupted.versions, interrupted.history)
        made.resume()
        with mishap(at, OSError(28, "No space left on device")) as found:
            made.end()
        made.end()
        assert len(interrupted.records()) == 1 and not made.begun
        if not found.struck:
            break
    assert at > 3


def test_a_change_that_somebody_else_has_committed_is_not_made_again(tmp_path: Path) -> None:
    dreamer = sleeper(tmp_path / "0", edit("MEMORY.md", "Friday", "Friday, as planned"))
    dreamer = killed(dreamer, tmp_path, edit("MEMORY.md", "Friday", "Friday, as planned"))
    dreamer.write("MEMORY.md", "The release is on Friday, as planned\n")
    dreamer.versions.take_in()
    dreamer.step()
    assert (
        dreamer.read("MEMORY.md") == "The release is on Friday, as planned\n"
        and dreamer.history.dreamed == 2
    )
    assert dreamer.me.life.tail(1).endswith("gist=history 1 to 2: 1 change◲\n")
