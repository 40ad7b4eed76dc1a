"""What prevents a Dream: who is told of it and how often, and that nothing is lost."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from dory import check
from dory.errors import DoryError, FormatError
from dory.extensions.dream.prompt import LIMIT, NAME, Guide
from dory.extensions.dream.versions import agent
from dory.text import references
from tests.support.household import Killed, bodies, copy_of, mishap
from tests.support.sleeping import Answering, Sleeper, edit, listed

LINE = edit("USER.md", "", "Ada's birthday is on 4 May")


def folder_for_a_guide(dreamer: Sleeper) -> None:
    (dreamer.me.folder / NAME).mkdir()


def long_guide(dreamer: Sleeper) -> None:
    dreamer.write(NAME, "x" * (LIMIT + 1))


def no_history(dreamer: Sleeper) -> None:
    dreamer.history.path.write_bytes(b"")


def folder_for_a_file(dreamer: Sleeper) -> None:
    (dreamer.me.folder / "VOICE.md").mkdir()


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (
            folder_for_a_guide,
            f"failed: {NAME} cannot be read (Is a directory): put a text file in its place",
        ),
        (long_guide, f"failed: {NAME} may have {LIMIT} bytes: shorten it"),
        (no_history, "failed: history.jsonl has no entry behind 0"),
        (folder_for_a_file, "failed: VOICE.md is no regular file"),
    ],
)
def test_a_person_who_asked_and_the_agent_are_told_of_every_failure(
    tmp_path: Path, damage: Callable[[Sleeper], None], complaint: str
) -> None:
    model = Answering("NOTHING")
    dreamer = Sleeper(tmp_path, model)
    dreamer.step()
    dreamer.fade()
    dreamer.extension.force("")
    damage(dreamer)
    for _ in range(3):
        dreamer.step()
    (said,) = [
        text for text in dreamer.house.said("dev", "NOTICE") if "the Dream has ended" in text
    ]
    assert (
        complaint in said
        and "all stays as it was" in said
        and model.asked == []
        and dreamer.history.dreamed == 0
    )
    assert (
        sum("your Dream failed: " in body for body in bodies(dreamer.me.context.entries, "notice"))
        == 1
    )


def test_a_guide_that_leads_out_of_the_folder_is_not_read_and_secrets_in_one_are_not_shown(
    tmp_path: Path,
) -> None:
    model = Answering("NOTHING")
    dreamer = Sleeper(tmp_path, model)
    guide = Guide(dreamer.me)
    dreamer.write(NAME, "Dream of hunter2-hunter2.\n")
    assert guide.command("").endswith("\n\nDream of [secret].\n")
    dreamer.fade()
    dreamer.sleep()
    assert model.asked[0].messages[0].content.endswith("Dream of [secret].")
    (dreamer.me.folder / NAME).unlink()
    (dreamer.me.folder / NAME).symlink_to(dreamer.me.home / "elsewhere")
    (dreamer.me.home / "elsewhere").write_text("not this one")
    with pytest.raises(
        FormatError, match=r"cannot be read .*symbolic link.*: put a text file in its place"
    ):
        guide.command("")


def test_what_is_wrong_with_the_history_is_told_the_agent_once(tmp_path: Path) -> None:
    dreamer = Sleeper(tmp_path, Answering("NOTHING"))
    dreamer.fade()
    (dreamer.me.folder / ".cursor").write_text("9")
    (dreamer.me.folder / ".dream_cursor").write_text("not a number")
    dreamer.wake()
    for _ in range(3):
        dreamer.step()
        dreamer.me.log("response", "")
        dreamer.me.commit()
    assert (
        sum(
            "put history.jsonl back" in body
            for body in bodies(dreamer.me.context.entries, "notice")
        )
        == 1
    )
    assert sum("put history.jsonl back" in line for line in dreamer.told) == 1
    with pytest.raises(DoryError, match="mended"):
        dreamer.extension.force("")


def test_what_was_saved_just_before_a_dream_is_in_its_prompt(tmp_path: Path) -> None:
    model = Answering("NOTHING")
    dreamer = Sleeper(tmp_path, model)
    dreamer.step()
    dreamer.fade()
    dreamer.write("USER.md", "Ada has a boat\n")
    dreamer.extension.force("")
    for _ in range(2):
        dreamer.step()
    assert "\nAda has a boat  ← 2026-03-02 12:0" in model.asked[0].text
    assert [commit.subject for commit in dreamer.log("a person")] == [
        "USER.md: + Ada has a boat"
    ] and dreamer.history.dreamed == 1


def test_an_agents_edit_that_a_kill_kept_from_its_commit_is_still_its_own_when_a_dream_is_due(
    tmp_path: Path,
) -> None:
    dreamer = Sleeper(tmp_path, Answering(listed("USER.md"), LINE, "DONE"))
    dreamer.step()
    dreamer.fade()
    dreamer.me.listeners.clear()  # the process ends before its commit
    dreamer.house.respond(edit("MEMORY.md", "", "The release is on Friday"))
    dreamer.wake()
    dreamer.extension.force("")
    for _ in range(2):
        dreamer.step()
    own = agent(dreamer.me.name, dreamer.me.hash)
    assert [commit.author for commit in dreamer.versions.log()][:2] == [
        dreamer.log()[0].author,
        own,
    ] and dreamer.log("a person") == []


def test_a_list_that_was_not_made_is_recorded_as_failed_and_its_history_is_dreamed_of_later(
    tmp_path: Path,
) -> None:
    model = Answering(listed("USER.md"), "I have written down her birthday.")
    dreamer = Sleeper(tmp_path, model)
    dreamer.step()
    dreamer.fade(2)
    before = dreamer.durable()
    dreamer.sleep()
    after = dreamer.durable()
    assert after | {"LIFE.md": b""} == before | {"LIFE.md": b""} and dreamer.history.dreamed == 0
    (noted,) = [line for line in dreamer.me.life.path.read_text().splitlines() if "failed" in line]
    assert " dream-failed " in noted and "history 1 to 2: failed, nothing of the list was" in noted
    ((hash, _),) = references.live(noted)
    record = dreamer.me.blobs.get(hash).body
    assert "I have written down her birthday." in record.partition("## Why it failed")[2]
    (said,) = dreamer.house.said("dev", "NOTICE")
    assert "the Dream has ended: failed: nothing of the list was made: 2 answers held no" in said
    assert "birthday" not in said, "it may come from another room"
    assert list(check.problems(dreamer.me.home)) == []
    model.answers = [listed("USER.md"), LINE, "DONE"]
    dreamer.house.clock.at += timedelta(hours=3)
    dreamer.step()
    assert dreamer.history.dreamed == 2 and dreamer.read("USER.md").startswith("Ada's birthday")


def test_a_kill_at_any_write_of_a_failed_dream_leaves_the_history_to_the_next(
    tmp_path: Path,
) -> None:
    before = Sleeper(tmp_path / "0", Answering(listed("USER.md"), "Done!"))
    before.step()
    before.fade()
    for at in range(1, 99):
        home = copy_of(before.me.home, tmp_path / str(at))
        dreamer = Sleeper(tmp_path, Answering(listed("USER.md"), "Done!"), house=before.house)
        dreamer.wake(home)
        dreamer.extension.force("")
        with mishap(at, Killed()) as kill:
            dreamer.step()
        dreamer.wake(home)
        dreamer.step()
        assert dreamer.history.dreamed == 0 and not dreamer.read("USER.md"), at
        assert list(check.problems(home)) == [], at
        if not kill.struck:
            break
    assert at > 5
