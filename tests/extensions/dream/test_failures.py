"""What keeps a Dream from being: who is told, how often, and that nothing is lost by it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dory.errors import DoryError, FormatError
from dory.extensions.dream.prompt import LIMIT, NAME, Guide
from dory.extensions.dream.versions import agent
from tests.support.household import bodies
from tests.support.sleeping import Answering, Sleeper, edit, listed

LINE = edit("USER.md", "", "Ada's birthday is on 4 May")


def folder_for_a_guide(one: Sleeper) -> None:
    (one.me.folder / NAME).mkdir()


def long_guide(one: Sleeper) -> None:
    one.write(NAME, "x" * (LIMIT + 1))


def no_history(one: Sleeper) -> None:
    one.history.path.write_bytes(b"")


def folder_for_a_file(one: Sleeper) -> None:
    (one.me.folder / "VOICE.md").mkdir()


@pytest.mark.parametrize(
    ("damage", "told"),
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
    tmp_path: Path, damage: Callable[[Sleeper], None], told: str
) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    one.step()
    one.fade()
    one.extension.force("")
    damage(one)
    for _ in range(3):
        one.step()
    (said,) = [text for text in one.house.said("dev", "NOTICE") if "the Dream has ended" in text]
    assert (
        told in said
        and "all stays as it was" in said
        and model.asked == []
        and one.history.dreamed == 0
    )
    assert (
        sum("your Dream failed: " in body for body in bodies(one.me.context.entries, "notice")) == 1
    )


def test_a_guide_that_leads_out_of_the_folder_is_not_read_and_secrets_in_one_are_not_shown(
    tmp_path: Path,
) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    guide = Guide(one.me)
    one.write(NAME, "Dream of hunter2-hunter2.\n")
    assert guide.command("").endswith("\n\nDream of [secret].\n")
    one.fade()
    one.sleep()
    assert model.asked[0].messages[0].content.endswith("Dream of [secret].")
    (one.me.folder / NAME).unlink()
    (one.me.folder / NAME).symlink_to(one.me.home / "elsewhere")
    (one.me.home / "elsewhere").write_text("not this one")
    with pytest.raises(
        FormatError, match=r"cannot be read .*symbolic links.*: put a text file in its place"
    ):
        guide.command("")


def test_what_is_wrong_with_the_history_is_told_the_agent_once(tmp_path: Path) -> None:
    one = Sleeper(tmp_path, Answering("NOTHING"))
    one.fade()
    (one.me.folder / ".cursor").write_text("9")
    (one.me.folder / ".dream_cursor").write_text("not a number")
    one.wake()
    for _ in range(3):
        one.step()
        one.me.log("response", "")
        one.me.commit()
    assert (
        sum("put history.jsonl back" in body for body in bodies(one.me.context.entries, "notice"))
        == 1
    )
    assert sum("put history.jsonl back" in told for told in one.told) == 1
    with pytest.raises(DoryError, match="mended"):
        one.extension.force("")


def test_what_was_saved_just_before_a_dream_is_in_its_prompt(tmp_path: Path) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    one.step()
    one.fade()
    one.write("USER.md", "Ada has a boat\n")
    one.extension.force("")
    for _ in range(2):
        one.step()
    assert "\nAda has a boat  ← 2026-03-02 12:0" in model.asked[0].text
    assert [commit.subject for commit in one.log("a person")] == [
        "USER.md: + Ada has a boat"
    ] and one.history.dreamed == 1


def test_an_agents_edit_that_a_kill_kept_from_its_commit_is_still_its_own_when_a_dream_is_due(
    tmp_path: Path,
) -> None:
    one = Sleeper(tmp_path, Answering(listed("USER.md"), LINE, "DONE"))
    one.step()
    one.fade()
    one.me.listeners.clear()  # the process ends before its commit
    one.house.respond(edit("MEMORY.md", "", "The release is on Friday"))
    one.wake()
    one.extension.force("")
    for _ in range(2):
        one.step()
    own = agent(one.me.name, one.me.hash)
    assert [commit.author for commit in one.versions.log()][:2] == [
        one.log()[0].author,
        own,
    ] and one.log("a person") == []
