"""What a Dream changes: one commit a Dream, the newer edit wins, and a record of it all."""

from datetime import timedelta
from pathlib import Path

import pytest

from dory.errors import DoryError, FormatError
from dory.extensions.dream import apply
from tests.support.sleeping import CHANGES, STRETCH, Answering, edit, listed, sleeper


def test_a_dream_is_one_commit_whose_message_lists_the_changes_with_their_reasons(
    tmp_path: Path,
) -> None:
    one = sleeper(tmp_path)
    one.sleep()
    (record,) = [
        path.stem for path in one.me.blobs.walk() if one.me.blobs.get(path.stem).kind == "dream"
    ]
    assert [(version.subject, version.reason) for version in one.log()] == [
        (
            "USER +2, MEMORY +1 −1",
            "USER.md: + Ada's birthday is on 4 May\n  She told it on 1 March.\n"
            "MEMORY.md: The release is on Monday (was: … Friday)\n  It was moved.\n"
            f"USER.md: + Ada likes tea\n  She said so.\n\nDream: {record}",
        )
    ]
    assert (
        one.read("USER.md") == "Ada's birthday is on 4 May\nAda likes tea\n"
        and one.read("MEMORY.md") == "The release is on Monday\n"
    )
    assert one.history.dreamed == 2 and not (one.me.folder / apply.NAME).exists()
    assert one.me.life.tail(1).endswith(
        f" dreamed ◱hash={record} gist=history 1 to 2: 3 changes, 1 refused or dropped◲\n"
    )


def test_a_dream_of_one_change_has_that_change_as_its_subject(tmp_path: Path) -> None:
    one = sleeper(tmp_path, edit("MEMORY.md", "Friday", "Monday", "It was moved."))
    one.sleep()
    assert [version.subject for version in one.log()] == [
        "MEMORY.md: The release is on Monday (was: … Friday)"
    ]


def test_the_rooms_are_told_in_one_line_what_a_dream_has_changed_also_of_one_nobody_asked_for(
    tmp_path: Path,
) -> None:
    one = sleeper(tmp_path)
    one.house.clock.at += timedelta(hours=3)
    one.step()
    one.post()
    assert one.house.said("dev", "NOTICE") == ["Dream: USER +2, MEMORY +1 −1; /dream-log"]
    one.model = Answering("NOTHING")
    one.wake()
    one.fade()
    one.house.clock.at += timedelta(hours=3)
    one.step()
    one.post()
    assert len(one.house.said("dev", "NOTICE")) == 1, "it has changed nothing, and nobody asked"
    one.fade()
    one.sleep()
    one.post()
    assert one.house.said("dev", "NOTICE")[1].startswith(
        "the Dream has ended: history 4: no changes; /show "
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
    assert one.history.dreamed == 2 and len(one.log()) == 1
    assert one.log()[0].reason.count("\n  ") == 2


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
        and len(one.log()) == 1
        and len(one.records()) == 1
    )
