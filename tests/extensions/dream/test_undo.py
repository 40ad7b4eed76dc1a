"""The latest Dream, how a person sees it and takes it back, and what later Dreams know of that."""

from itertools import count
from pathlib import Path

import pytest

from dory import check, clock
from dory.errors import VersionError
from dory.extensions.dream import dreams
from dory.extensions.dream.versions import DREAM
from dory.extensions.dream.versions_extension import VersionExtension
from dory.identity.state import Owed
from tests.support import versioned
from tests.support.household import Killed, bodies, copy_of, mishap
from tests.support.sleeping import Answering, Sleeper, edit, listed, sleeper


def versions_of(dreamer: Sleeper) -> VersionExtension:
    """What answers the commands about versions."""
    return VersionExtension(dreamer.me, dreamer.versions, dreamer.told.append)


def asleep(folder: Path) -> Sleeper:
    """One that has dreamed once."""
    dreamer = sleeper(folder)
    dreamer.sleep()
    return dreamer


def test_the_log_shows_the_latest_dream_and_not_the_latest_change(tmp_path: Path) -> None:
    dreamer = asleep(tmp_path)
    (dream,) = dreamer.log()
    dreamer.house.respond(versioned.edit("MEMORY.md", "", "tea at five"))
    dreamer.step()
    told = versions_of(dreamer).log("")
    heading = f"{dream.sha[:8]} {clock.minute(dream.at)} Dream\nUSER +2, MEMORY +1 −1\n\n"
    assert told.startswith(f"{heading}USER.md: + Ada's")
    assert "+Ada likes tea\n" in told and "tea at five" not in told
    assert told.endswith("/dream-undo takes this Dream back")


def test_the_latest_dream_is_taken_back_as_a_new_version_and_only_once(tmp_path: Path) -> None:
    dreamer = asleep(tmp_path)
    commands = versions_of(dreamer)
    (dream,) = dreamer.log()
    told = commands.undo_dream("")
    assert told.startswith(f"Restored to the state before {dream.sha[:8]} (USER +2, MEMORY +1 −1).")
    assert (
        dreamer.read("USER.md") == "" and dreamer.read("MEMORY.md") == "The release is on Friday\n"
    )
    newest = next(dreamer.versions.log())
    assert (
        newest.author.name == "a person"
        and newest.subject == "USER.md, MEMORY.md: 1 line added, 3 removed"
    )
    notices = bodies(dreamer.me.context.entries, "notice")
    assert "A person has taken back your Dream of 2026-03-02 12:00" in notices[-1]
    with pytest.raises(VersionError, match="was taken back on 2026-03-02 12:00 already"):
        commands.undo_dream("anyway")
    assert f"took this Dream back on 2026-03-02 12:00: {newest.sha[:8]}" in commands.log("")
    commands.restore(newest.sha)
    assert dreamer.read("USER.md").startswith("Ada's birthday")
    commands.undo_dream("")
    assert dreamer.read("USER.md") == ""


def test_the_versions_say_who_took_a_dream_back(tmp_path: Path) -> None:
    dreamer = asleep(tmp_path)
    dreamer.me.state.owed = Owed("dev", "", 0, "ada")
    assert ", as ada asked.\n" in versions_of(dreamer).undo_dream("")
    newest = next(dreamer.versions.log())
    assert newest.reason.endswith(", as ada asked.")
    assert "took this Dream back" in versions_of(dreamer).log("")


def test_what_later_changes_would_be_lost_is_told_first(tmp_path: Path) -> None:
    dreamer = asleep(tmp_path)
    commands = versions_of(dreamer)
    dreamer.write("VOICE.md", "warm\n")
    told = commands.undo_dream("")
    assert told.startswith("Not done yet: later changes would be lost:\n")
    assert "a person: VOICE.md: + warm" in told and "\n/dream-undo anyway restores all" in told
    assert dreamer.read("USER.md").startswith("Ada's birthday")
    commands.undo_dream("anyway")
    assert dreamer.read("USER.md") == dreamer.read("VOICE.md") == ""


def test_without_a_dream_there_is_nothing_to_take_back(tmp_path: Path) -> None:
    dreamer = sleeper(tmp_path)
    commands = versions_of(dreamer)
    with pytest.raises(VersionError, match="no Dream has changed anything yet"):
        commands.undo_dream("")
    with pytest.raises(VersionError, match="write /dream-undo, or /dream-undo anyway"):
        commands.undo_dream("all")
    assert commands.log("").endswith("no Dream has changed anything yet: this is the latest change")


def test_the_next_dream_is_told_that_a_person_took_back_the_last_and_what(tmp_path: Path) -> None:
    dreamer = asleep(tmp_path)
    versions_of(dreamer).undo_dream("")
    for _ in range(2):
        dreamer.model = Answering("NOTHING")
        dreamer.wake()
        dreamer.fade()
        dreamer.sleep()
        asked = dreamer.model.asked[0].text
        undone = asked.partition("\n[#undone]\n")[2].partition("\n[#history]")[0]
        assert undone.startswith(
            "A person took back, on 2026-03-02 12:00, what you had changed in your Dream of"
            " 2026-03-02 12:00."
        )
        assert undone.splitlines()[1:] == [
            "+ USER.md: Ada's birthday is on 4 May",
            "+ USER.md: Ada likes tea",
            "+ MEMORY.md: The release is on Monday",
            "− MEMORY.md: The release is on Friday",
        ]


def test_what_a_person_took_back_is_not_done_again_on_the_word_of_old_history(
    tmp_path: Path,
) -> None:
    dreamer = asleep(tmp_path)
    versions_of(dreamer).undo_dream("")
    again = "\n".join(
        [
            edit("USER.md", "", "Ada's birthday is on 4 May"),
            edit("MEMORY.md", "Friday", "Monday"),
            edit("MEMORY.md", "The release is on Friday", ""),
            edit("VOICE.md", "", "brief"),
        ]
    )
    dreamer.model = Answering(listed("USER.md"), again, "DONE")
    dreamer.wake()
    dreamer.fade()
    dreamer.sleep()
    assert dreamer.read("USER.md") == "" and dreamer.read("VOICE.md") == "brief\n"
    assert dreamer.read("MEMORY.md") == "The release is on Friday\n"
    assert "was taken out of USER.md on" in dreamer.records()[-1]
    assert "was put back into MEMORY.md on" in dreamer.records()[-1]


def test_a_kill_at_any_write_of_an_undoing_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    before = asleep(tmp_path / "0")
    undone = dict[bool, int]()
    for at in count(1):
        home = copy_of(before.me.home, tmp_path / str(at))
        dreamer = Sleeper(tmp_path, before.model, house=before.house)
        dreamer.wake(home)
        dreamer.step()
        with mishap(at, Killed()) as kill:
            versions_of(dreamer).undo_dream("")
        dreamer.wake(home)
        dreamer.step()
        texts = dreamer.read("USER.md"), dreamer.read("MEMORY.md")
        all_of_it = texts == ("", "The release is on Friday\n")
        assert all_of_it or texts == (before.read("USER.md"), before.read("MEMORY.md")), at
        dream = dreams.latest(dreamer.versions)
        assert dream and bool(dreams.taken_back(dreamer.versions, dream)) == all_of_it, at
        assert list(check.problems(home)) == [], at
        undone[all_of_it] = at
        if not kill.struck:
            break
    assert set(undone) == {True, False} and undone[True] == at > 10


def test_a_dream_of_an_older_home_may_be_several_versions_and_is_taken_back_as_one(
    tmp_path: Path,
) -> None:
    dreamer = sleeper(tmp_path)
    for record, number in (("a" * 16, "1/1"), ("b" * 16, "1/2"), ("b" * 16, "2/2")):
        dreamer.write("USER.md", f"{dreamer.read('USER.md')}{record[0]} {number}\n")
        dreamer.versions.commit(DREAM, f"So it is.\n\nDream: {record} {number}")
    commands = versions_of(dreamer)
    told = commands.log("")
    assert (
        "+b 1/2\n+b 2/2\n" in told and "Dream: USER.md: + a 1/1" in told.partition("Before it")[2]
    )
    commands.undo_dream("")
    assert dreamer.read("USER.md") == "a 1/1\n"
