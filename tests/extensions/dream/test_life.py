"""Lives of several days with the offline model: in the end USER and MEMORY hold what is true, and
every change was a commit.
"""

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from bench.common.days import Days
from dory.constants import MEMORY_LIMIT
from dory.extensions.dream.versions import Versions
from tests.support.dreamlife import commits, git

TRAILER = re.compile(r"^Dream: ([0-9a-f]+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Days:
    """Four days, with a restart in the middle."""
    days = Days(tmp_path_factory.mktemp("lived"))
    days.say("My cat is called Miso.")
    days.say("My birthday is on 4 May.")
    days.say("My desk is by the window.", "bob")
    days.say("Remember that the release is on Friday.")
    days.talk(25)
    days.night()
    days.say("My birthday is on 5 May.")
    days.say("My sofa is blue. Is that not a lovely colour?")
    days.talk(12)
    days.say("Forget about my cat.")
    days.talk(24)  # what was said of the sofa fades before it is taken back
    days.wake()
    days.night()
    days.say(
        "Forget about my sofa. Is there anybody in this house who would like to have such a"
        " sofa in the library or in the greenhouse?"
    )
    days.say("My desk is in the cellar.", "bob")
    days.say("My horse is called Max.")
    days.talk(20)
    days.night()
    days.say("Forget about my horse.")
    days.say("Remember that the release is on Monday.")
    days.talk(6)  # a summary of few things keeps what somebody said of each
    days.say("My dog is called Rex. Shall we walk him?")
    days.talk(25)
    days.night()
    return days


def test_what_is_true_stands_in_user_and_memory_and_nothing_else(lived: Days) -> None:
    assert sorted(lived.lines("USER.md")) == [
        "Ada's birthday is on 5 May",
        "Ada's dog is called Rex",
        "Bob's desk is in the cellar",
    ]
    assert lived.lines("MEMORY.md") == ["the release is on Monday (Ada)"]


def test_every_change_is_one_commit_by_whom_made_it(lived: Days) -> None:
    first, *made = commits(lived.me.folder)
    assert first.author == "Dory" and not first.won
    assert {commit.author for commit in made} == {lived.me.name, "Dream"}
    assert all(commit.lost != commit.won for commit in made)
    assert all(
        len(commit.lost) <= 1 and len(commit.won) <= 1
        for commit in made
        if commit.author != "Dream"
    )
    log = (lived.me.folder / "LIFE.md").read_text(encoding="utf-8")
    edits = re.findall(r" EDIT_FILE (?:◱hash=\w+ gist=)?(?:USER|MEMORY)\.md", log)
    assert sum(commit.author == lived.me.name for commit in made) == len(edits) >= 8
    assert not git(lived.me.folder, "status", "--porcelain")
    assert not git(lived.me.folder, "fsck", "--strict", "--no-dangling")


def test_every_change_of_a_dream_names_its_record_and_life_refers_to_that(lived: Days) -> None:
    made = [
        TRAILER.findall(commit.message)
        for commit in commits(lived.me.folder)
        if commit.author == "Dream"
    ]
    assert all(len(trailers) == 1 for trailers in made)
    parts = [record for (record,) in made]
    assert len(parts) == len(set(parts)) >= 3, "one Dream is one commit"
    log = (lived.me.folder / "LIFE.md").read_text(encoding="utf-8")
    dreamed = Counter(re.findall(r" dreamed ◱hash=(\w+) ", log))
    assert set(parts) <= dreamed.keys() and set(dreamed.values()) == {1}
    assert all("What it decided, and why" in lived.me.blobs.get(record).body for record in dreamed)


def test_dreams_come_at_least_two_hours_apart_and_leave_nothing_of_the_history(lived: Days) -> None:
    rows = [
        json.loads(line)
        for line in (lived.me.folder / "history.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [row["cursor"] for row in rows] == list(range(1, len(rows) + 1))
    assert (
        (lived.me.folder / ".dream_cursor").read_text()
        == (lived.me.folder / ".cursor").read_text()
        == f"{len(rows)}\n"
    )
    log = (lived.me.folder / "LIFE.md").read_text(encoding="utf-8")
    times = [
        datetime.fromisoformat(at) for at in re.findall(r"^(\S+ \S+) dreamed ", log, re.MULTILINE)
    ]
    assert len(times) >= 5
    assert all(after - before >= timedelta(hours=2) for before, after in pairwise(times))


def test_what_a_person_takes_back_of_a_dream_stays_taken_back(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.say("My cat is called Miso.")
    days.talk(60)
    days.night()
    assert days.lines("USER.md") == ["Ada's cat is called Miso"] and not days.lines("MEMORY.md")
    versions = Versions(days.me.folder, days.now, str)
    dreams = [version for version in versions.log() if version.author.name == "Dream"]
    versions.restore(dreams[-1].before, "Not there.")
    days.talk(60)
    days.night()
    assert days.lines("MEMORY.md") == ["Ada's cat is called Miso"] and not days.lines("USER.md")


def test_of_more_facts_than_fit_the_newest_stay_and_none_that_was_taken_back(
    tmp_path: Path,
) -> None:
    days = Days(tmp_path)
    rest = (
        f"opened by a push on its left side,"
        f" {'and then by another one a little further down, ' * 2}and by patience"
    )
    for number in range(50):
        days.say(f"My locker{number} is {rest}.")
        if number % 10 == 5:
            days.say(f"Forget about my locker{number - 1}.")
        days.at += timedelta(minutes=12)
    days.night()
    sizes = [
        len((days.me.folder / name).read_text(encoding="utf-8"))
        for name in ("USER.md", "MEMORY.md")
    ]
    assert max(sizes) <= MEMORY_LIMIT and max(sizes) > MEMORY_LIMIT // 2
    known = [int(number) for number in re.findall(r"locker(\d+) is", "\n".join(days.lines()))]
    assert len(known) == len(set(known)) and not [number for number in known if number % 10 == 4]
    assert 10 < len(known) < 45 and max(known) == 49
    assert sorted(days.lines()) == sorted(f"Ada's locker{number} is {rest}" for number in known)


def test_a_dream_that_a_person_took_back_with_the_command_stays_taken_back(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.say("My dog is called Rex. Shall we walk him?")
    days.talk(60)
    days.night()
    assert days.lines("USER.md") == ["Ada's dog is called Rex"]
    commands = {command.name: command.run for command in days.agent.extensions.commands()}
    assert "+Ada's dog is called Rex" in commands["dream-log"]("")
    assert commands["dream-undo"]("").startswith("Restored to the state before ")
    days.say("Remember that the release is on Friday. It matters to me.")
    days.talk(60)
    days.night()
    assert days.lines("USER.md") == [] and days.lines("MEMORY.md")
    assert "took this Dream back" in commands["dream-log"]("")
    days.say("My dog is called Rex. Shall we walk him?")
    days.talk(60)
    days.night()
    assert days.lines("USER.md") == ["Ada's dog is called Rex"], "it was told again"
