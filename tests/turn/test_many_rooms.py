"""An agent in very many rooms: it may not join ever more, and nothing that it or a person reads
grows with their number.
"""

from pathlib import Path

import pytest

from dory import check
from dory.config.settings import Config
from dory.constants import MEMBERSHIPS
from dory.identity import audience
from dory.storage.rooms import LINKED
from dory.text import formatting
from dory.turn import outbox
from tests.support.compacting import House, Scripted
from tests.support.household import Household

MANY = 2001


def crowded(house: Household | House, count: int = MANY) -> None:
    """Make the agent a member of so many rooms, as a message to an older Dory could."""
    for number in range(count):
        (house.me.folder / "subs" / f"room-{number}.md").symlink_to(LINKED / f"room-{number}.md")


def test_one_message_cannot_make_it_join_very_many_rooms(tmp_path: Path) -> None:
    house = Household(tmp_path)
    house.hear("dev", "ada", "join them all")
    house.me.state.rooms["dev"].people = True
    for start in range(0, 300, 100):
        house.respond("\n".join(f"JOIN room-{number}" for number in range(start, start + 100)))
    assert len(house.me.subscriptions()) == MEMBERSHIPS
    (error,) = [entry.body for entry in house.me.context.entries[-1:]]
    assert error == (
        f"you are in {MEMBERSHIPS} rooms, and more than {MEMBERSHIPS} are too many: LEAVE one"
        " first, such as LEAVE room-0"
    )
    house.respond("LEAVE room-0\nJOIN lab")
    assert "lab" in house.me.subscriptions()


@pytest.mark.parametrize("prompt", ["full", "lean"])
def test_the_prompt_does_not_grow_with_the_rooms_and_the_people_in_them(
    tmp_path: Path, prompt: str
) -> None:
    sizes = []
    for count in (50, MANY):
        house = House(tmp_path / str(count), Scripted(), prompt=prompt, context_limit=20_000)
        crowded(house, count)
        house.agent.inbox.receive()
        for number in range(count):
            state = house.me.state.rooms[f"room-{number}"]
            state.waiting = [f"person-{name}" for name in range(100)]
        sizes.append(len(house.agent.prompts.build().text))
    assert abs(sizes[1] - sizes[0]) < 100 and sizes[1] < 40_000


def test_an_older_agent_in_two_thousand_rooms_lives_on(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(lambda prompt: "SAY dev Here I am."), context_limit=20_000)
    crowded(house)
    house.wake()
    house.say("hello")
    house.live(lambda: house.lines("AGENT") == ["Here I am."] and house.asleep())
    house.say("/status")
    house.live(lambda: bool(house.lines("NOTICE")))
    (status,) = house.lines("NOTICE")
    assert "and 1,982 more" in status and len(status) < 2000
    booted = house.me.context.entries
    assert all(len(entry.text) < 2000 for entry in booted)
    house.agent.announce("something is wrong")
    told = [room for room in house.me.subscriptions() if house.me.rooms.size(room)]
    assert "dev" in told and len(told) <= audience.MOST
    assert list(check.problems(tmp_path)) == []


def test_people_in_many_rooms_are_reminded_of_and_told_in_few_words(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), context_limit=20_000)
    crowded(house, 60)
    house.agent.inbox.receive()
    for number in range(60):
        house.me.state.rooms[f"room-{number}"].waiting = [f"person-{n}" for n in range(100)]
    house.me.state.awake = True
    house.live(lambda: not house.me.state.awake)
    notices = [entry.body for entry in house.me.context if entry.kind == "notice"]
    assert all(len(notice) < 3000 for notice in notices)
    reminder = next(notice for notice in notices if "wait for your answer" in notice)
    assert "and 91 others wait for your answer in room-0" in reminder
    notice = house.me.rooms.read("room-7", 0)[0].text
    assert notice.endswith("and 91 others, and there will be no answer.") and len(notice) < 300


def test_in_few_rooms_all_are_told(tmp_path: Path) -> None:
    house = Household(tmp_path, Config())
    house.me.join("lab")
    outbox.post(house.me, "hello")
    assert house.said("dev", "NOTICE") == house.said("lab", "NOTICE") == ["hello"]


def test_of_many_rooms_those_with_people_are_told(tmp_path: Path) -> None:
    house = Household(tmp_path)
    for number in range(50):
        house.me.join(f"room-{number}")
    house.me.state.rooms["room-3"].people = True
    told = audience.rooms(house.me)
    assert len(told) == audience.MOST and "room-3" in told


def test_names_are_cut_with_the_number_of_the_others() -> None:
    names = [f"n{number}" for number in range(2001)]
    assert formatting.named(names, 2) == "n0, n1 and 1,999 more"
    assert formatting.named(names[:2], 2) == "n0, n1" and formatting.named([]) == ""
    assert formatting.all_of(names, 3) == "n0, n1 and 1,999 others"
    assert formatting.all_of(names[:3], 3) == "n0, n1 and n2" and formatting.all_of(["a"]) == "a"
