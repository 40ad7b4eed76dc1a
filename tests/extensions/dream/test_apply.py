"""What a Dream changes: one commit an edit, the newer edit wins, a record of it all, and all of it
or nothing through kills.
"""

import json
from itertools import count
from pathlib import Path

import pytest

from dory import check
from dory.errors import DoryError, FormatError, ModelError
from dory.extensions.dream import apply
from dory.extensions.dream.apply import Revision
from tests.support.household import Killed, copy_of, mishap
from tests.support.sleeping import STRETCH, Answering, Sleeper, edit, listed

CHANGES = "\n".join(
    [
        edit("USER.md", "", "Ada's birthday is on 4 May", "She told it on 1 March."),
        edit("MEMORY.md", "Friday", "Monday", "It was moved."),
        "READ_FILE VOICE.md",
        edit("USER.md", "", "Ada likes tea", "She said so."),
        edit("VOICE.md", "no such line", "x", "A guess."),
    ]
)


def sleeper(home: Path, *answers: str | ModelError) -> Sleeper:
    """One whose MEMORY tells of a release, and with history."""
    made = Sleeper(
        home, Answering(listed("USER.md", "MEMORY.md"), *(answers or (CHANGES,)), "DONE")
    )
    made.write("MEMORY.md", "The release is on Friday\n")
    made.step()
    made.fade(2)
    return made


def test_every_change_is_one_commit_by_dream_with_its_reason_and_its_record(tmp_path: Path) -> None:
    one = sleeper(tmp_path)
    one.sleep()
    (record,) = [
        path.stem for path in one.me.blobs.walk() if one.me.blobs.get(path.stem).kind == "dream"
    ]
    assert [(version.subject, version.reason) for version in one.log()] == [
        (
            "USER.md: + Ada's birthday is on 4 May",
            f"She told it on 1 March.\n\nDream: {record} 1/3",
        ),
        (
            "MEMORY.md: The release is on Monday (was: … Friday)",
            f"It was moved.\n\nDream: {record} 2/3",
        ),
        ("USER.md: + Ada likes tea", f"She said so.\n\nDream: {record} 3/3"),
    ]
    assert (
        one.read("USER.md") == "Ada's birthday is on 4 May\nAda likes tea\n"
        and one.read("MEMORY.md") == "The release is on Monday\n"
    )
    assert one.history.dreamed == 2 and not (one.me.folder / apply.NAME).exists()
    assert one.me.life.tail(1).endswith(
        f" dreamed ◱hash={record} gist=history 1 to 2: 3 changes, 1 refused or dropped◲\n"
    )


def test_the_record_tells_what_was_studied_decided_changed_and_refused(tmp_path: Path) -> None:
    one = sleeper(tmp_path)
    one.sleep()
    (record,) = one.records()
    title, studied, decided, read, changed, refused = record.split("\n## ")
    assert (
        title.startswith("# Dream of 2026-03-02 12:0")
        and STRETCH.replace("\n", "\n    ") in studied
    )
    assert decided == f"What it decided, and why\n\n    {listed('USER.md', 'MEMORY.md')}\n".replace(
        "\n2.", "\n    2."
    )
    assert "    READ_FILE VOICE.md" in read
    assert (
        changed.count("- She told it on 1 March.")
        == changed.count("- It was moved.")
        == changed.count("    Ada likes tea")
        == 1
    )
    assert (
        "- A guess. (the search text 'no such line' is not in VOICE.md" in refused
        and "    EDIT_FILE VOICE.md" in refused
    )


def test_the_newer_edit_of_somebody_else_wins_and_the_rest_is_applied(tmp_path: Path) -> None:
    one = sleeper(tmp_path)
    one.extension.force("")
    one.extensions.step()  # it dreams now
    one.write("MEMORY.md", "The release is on Tuesday\n")
    one.step()
    assert (
        one.read("MEMORY.md") == "The release is on Tuesday\n"
        and one.read("USER.md") == "Ada's birthday is on 4 May\nAda likes tea\n"
    )
    assert [version.subject for version in one.log("a person")][
        -1
    ] == "MEMORY.md: The release is on Tuesday (was: … Friday)"
    assert (
        "- It was moved. (dropped, as the files were changed while the Dream ran: the search text"
        in one.records()[0]
    )
    assert one.history.dreamed == 2 and len(one.log()) == 2


def test_a_line_is_not_removed_from_one_file_when_it_could_not_be_added_to_the_other(
    tmp_path: Path,
) -> None:
    moves = "\n".join(
        [
            edit("USER.md", "", "Ada's cat is Miso"),
            edit("MEMORY.md", "Ada's cat is Miso\n", ""),
            "READ_FILE VOICE.md",
        ]
    )
    one = sleeper(tmp_path, moves)
    one.write("MEMORY.md", "Ada's cat is Miso\nThe release is on Friday\n")
    one.step()
    one.extension.force("")
    one.extensions.step()  # it dreams now
    one.write("USER.md", "x" * 3990)
    one.step()
    assert (
        one.read("MEMORY.md") == "Ada's cat is Miso\nThe release is on Friday\n"
        and one.read("USER.md") == "x" * 3990
    )
    assert (
        "what it removes may be what was to be added elsewhere" in one.records()[0]
        and one.history.dreamed == 2
    )


def test_a_dream_that_changes_nothing_is_recorded_and_its_history_is_done_with(
    tmp_path: Path,
) -> None:
    one = sleeper(tmp_path)
    one.model = Answering("NOTHING")
    one.wake()
    one.sleep()
    assert one.log() == [] and one.history.dreamed == 2
    assert (
        one.me.life.tail(1).endswith("gist=history 1 to 2: no changes◲\n")
        and "## What it changed\n\nNothing." in one.records()[0]
    )


@pytest.mark.parametrize("changes", [1, 3])
@pytest.mark.parametrize(
    "error", [Killed(), OSError(28, "No space left on device")], ids=["kill", "error"]
)
def test_a_kill_or_an_error_at_any_write_is_completed_and_nothing_is_done_twice(
    tmp_path: Path, changes: int, error: BaseException
) -> None:
    made = CHANGES if changes == 3 else edit("USER.md", "", "Ada's birthday is on 4 May")
    before, done, stride = (
        sleeper(tmp_path / "0"),
        list[int](),
        7 if changes == 1 else 31,
    )  # all writes: 1, in two minutes
    for at in count(3, stride):
        home = copy_of(before.house.home, tmp_path / str(at))
        model = Answering(*(answers := [listed("USER.md", "MEMORY.md"), made, "DONE"]))
        one = Sleeper(tmp_path, model, house=before.house)
        one.wake(home)
        one.extension.force("")
        with mishap(at, error) as found:
            one.step()
        if isinstance(error, Killed):
            one.wake(home)
        for _ in range(2):
            one.step()
        done.append(one.history.dreamed)
        told = (
            [f"{number}/{changes}" for number in range(1, changes + 1)] if done[-1] else []
        )  # or it was struck before anything was done
        assert [commit.reason[-3:] for commit in one.log()] == told and len(one.records()) == bool(
            told
        ), at
        assert (
            one.read("USER.md").count("birthday") == bool(told)
            and not (one.me.folder / apply.NAME).exists()
        ), at
        assert one.log("a person") == before.log("a person") and list(check.problems(home)) == [], (
            at
        )
        if not found.struck:
            break
        if not done[-1]:
            model.answers = [*answers]
            one.sleep()
            assert one.history.dreamed == 2 and one.read("USER.md").count("birthday") == 1, at
    assert (isinstance(error, OSError) or set(done) == {0, 2}) and done[-1] == 2 and at > 40


def killed(before: Sleeper, folder: Path, changes: str = CHANGES) -> Sleeper:
    """Killed as soon as the revision has begun, before its first file is written."""
    for at in count(1):
        home = copy_of(before.house.home, folder / str(at))
        one = Sleeper(
            folder, Answering(listed("USER.md", "MEMORY.md"), changes, "DONE"), house=before.house
        )
        one.wake(home)
        one.extension.force("")
        with mishap(2 * at, Killed()):
            one.step()
        if (one.me.folder / apply.NAME).exists():
            one.wake(home)
            break
    return one


@pytest.fixture(scope="module")
def struck(tmp_path_factory: pytest.TempPathFactory) -> Sleeper:
    folder = tmp_path_factory.mktemp("struck")
    return killed(sleeper(folder / "0"), folder)


@pytest.fixture
def one(struck: Sleeper, tmp_path: Path) -> Sleeper:
    """The next process in a copy of what such a kill has left."""
    home = struck.me.home
    next_one = Sleeper(tmp_path, struck.model, house=struck.house)
    next_one.wake(copy_of(home, tmp_path / "home"))
    return next_one


@pytest.mark.parametrize("anew", [False, True], ids=["", "the versions begin anew"])
def test_what_a_kill_left_is_told_once_also_when_it_is_completed_while_an_event_is_told(
    one: Sleeper, anew: bool
) -> None:
    if anew:
        (one.me.folder / ".git").rename(one.me.folder / "workspace" / "away")
    one.me.notice("the first event of the process, told in one commit with the response")
    one.house.respond("WAIT")
    one.step()
    assert (
        len(one.records()) == 1
        and one.history.dreamed == 2
        and not any("failed" in told for told in one.told)
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
    one: Sleeper, written: str, left: str
) -> None:
    one.write("USER.md", written)
    one.step()
    by_hand = "Bob" in written
    assert one.read("USER.md") == left and one.history.dreamed == 2 and len(one.records()) == 1
    assert [version.author.name for version in one.versions.log()][:3].count("a person") == by_hand
    assert (
        any(
            "a change of the Dream was dropped: somebody was editing it" in told
            for told in one.told
        )
        == by_hand
    )


@pytest.mark.parametrize(
    "content",
    [
        '{"version": 2}',
        "",
        "{",
        "[]",
        "[" * 200_000,
        '{"version": 1, "changes": [{"name": "USER.md"}]}',
    ],
)
def test_a_revision_of_an_unknown_version_or_a_damaged_one_is_told_and_nothing_is_dreamed(
    tmp_path: Path, content: str
) -> None:
    one = sleeper(tmp_path)
    path = one.me.folder / apply.NAME
    path.write_text(content)
    with pytest.raises(FormatError):
        apply.read_pending(path)
    one.wake()
    before = one.durable()
    one.step()
    one.fade()
    with pytest.raises(DoryError, match="mended"):
        one.extension.force("")
    assert one.durable() == before and sum(apply.NAME in told for told in one.told) == 1
    assert one.history.last == 3  # what fades is written down all the same
    path.unlink()
    one.me.log("response", "")
    one.me.commit()
    one.sleep()
    assert one.history.dreamed == 3


def test_dream_json_has_a_version_and_reads_back(one: Sleeper) -> None:
    path = one.me.folder / apply.NAME
    found = apply.read_pending(path)
    assert json.loads(path.read_text())["version"] == apply.VERSION == 1
    assert (
        found
        and found.cursor == 2
        and [change.name for change in found.changes] == ["USER.md", "MEMORY.md", "USER.md"]
    )


def test_a_file_that_is_no_utf_8_is_left_as_it_is_and_that_is_recorded(tmp_path: Path) -> None:
    one, content = sleeper(tmp_path), b"caf\xe9 at Friday\n"
    (one.me.folder / "MEMORY.md").write_bytes(content)
    one.step()
    one.sleep()
    assert (one.me.folder / "MEMORY.md").read_bytes() == content and one.read("USER.md").startswith(
        "Ada's birthday"
    )
    assert (
        "MEMORY.md is no UTF-8 text: nothing was changed" in one.records()[0]
        and one.history.dreamed == 2
    )
    assert one.me.life.tail(1).endswith("gist=history 1 to 2: 2 changes, 2 refused or dropped◲\n")


@pytest.mark.parametrize(
    ("meanwhile", "dropped"),
    [
        ("Ada's birthday is on 5 May\n", True),
        ("ADA: birthday, a party!\n", True),
        ("Ada's dog is Rex\n", False),
        ("May I help\n", False),
    ],
)
def test_a_line_that_is_appended_yields_to_one_on_the_same_that_somebody_wrote_meanwhile(
    tmp_path: Path, meanwhile: str, dropped: bool
) -> None:
    one = sleeper(tmp_path, edit("USER.md", "", "Ada's birthday is on 4 May"))
    one.write("USER.md", "Ada had a birthday\n")  # stood there before: the Dream knew
    one.step()
    one.extension.force("")
    one.extensions.step()  # it dreams now
    one.write("USER.md", f"Ada had a birthday\n{meanwhile}")
    one.step()
    assert one.read(
        "USER.md"
    ) == f"Ada had a birthday\n{meanwhile}" + "Ada's birthday is on 4 May\n" * (not dropped)
    assert (f"somebody has written meanwhile: {meanwhile.strip()}" in one.records()[0]) == dropped


def test_what_was_dropped_after_a_kill_is_recorded_and_life_does_not_count_it(one: Sleeper) -> None:
    one.write("MEMORY.md", "The release is on Tuesday\n")
    one.step()
    assert one.read("MEMORY.md") == "The release is on Tuesday\n" and [
        commit.reason[-3:] for commit in one.log()
    ] == ["1/3", "3/3"]
    assert one.me.life.tail(1).endswith(
        "gist=history 1 to 2: 2 of 3 changes made, 1 refused or dropped◲\n"
    )
    (record,) = one.records()
    told = record.partition("\n## What was dropped when the changes were made\n")[2]
    assert (
        "- It was moved. (somebody was editing it)" in told
        and "    EDIT_FILE MEMORY.md" in told
        and "## What it studied" in record
    )
    assert list(check.problems(one.me.home)) == []


def test_a_change_that_somebody_else_has_committed_is_not_made_again(tmp_path: Path) -> None:
    one = sleeper(tmp_path / "0", edit("MEMORY.md", "Friday", "Friday, as planned"))
    one = killed(one, tmp_path, edit("MEMORY.md", "Friday", "Friday, as planned"))
    one.write("MEMORY.md", "The release is on Friday, as planned\n")
    one.versions.take_in()
    one.step()
    assert (
        one.read("MEMORY.md") == "The release is on Friday, as planned\n"
        and one.history.dreamed == 2
    )
    assert one.me.life.tail(1).endswith("gist=history 1 to 2: 1 change◲\n")


def test_a_revision_is_completed_also_when_the_cursor_of_the_history_cannot_be_read(
    one: Sleeper,
) -> None:
    one.write("USER.md", "Ada's birthday is on 4 May\n")  # the kill came before its commit
    (one.me.folder / ".cursor").write_text("two")
    one.step()
    one.step()
    assert (
        one.read("USER.md") == "Ada's birthday is on 4 May\nAda likes tea\n"
        and len(one.log()) == 3
        and len(one.records()) == 1
    )
    assert (
        any(".cursor holds no number" in told for told in one.told)
        and not (one.me.folder / apply.NAME).exists()
    )


def test_while_somebodys_git_holds_the_lock_a_dream_waits_and_is_then_completed_as_its_own(
    tmp_path: Path,
) -> None:
    one = sleeper(tmp_path)
    one.extension.force("")
    one.extensions.step()  # it dreams now
    lock = one.me.folder / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    for _ in range(3):
        one.step()
    assert (
        one.log() == [] and "the Dream has ended: failed: " in one.house.said("dev", "NOTICE")[-1]
    )
    lock.unlink()
    one.me.log("response", "")
    one.me.commit()
    one.step()
    if one.history.dreamed == 0:
        one.model.answers = [listed("USER.md"), CHANGES, "DONE"]  # type: ignore[attr-defined]
        one.sleep()
    assert (
        one.read("USER.md") == "Ada's birthday is on 4 May\nAda likes tea\n"
        and len(one.log()) == 3
        and len(one.records()) == 1
    )


def test_life_tells_of_a_dream_once_also_when_that_could_not_be_written_at_first(
    one: Sleeper, tmp_path: Path
) -> None:
    home = one.me.home
    for at in count(1):
        one.wake(copy_of(home, tmp_path / f"copy {at}"))
        one.me.listeners.clear()
        one.versions.open()
        made = Revision(one.me, one.versions, one.history)
        made.resume()
        with mishap(at, OSError(28, "No space left on device")) as found:
            made.end()
        made.end()
        assert len(one.records()) == 1 and not made.begun
        if not found.struck:
            break
    assert at > 3
