"""With whom the agent may have a relationship, and in which rooms it shows."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from dory import check
from dory.turn.inbox import Inbox
from tests.extensions.people.test_relationships_extension import Knowing, notices


@pytest.fixture
def house(tmp_path: Path) -> Knowing:
    house = Knowing(tmp_path / "home")
    house.meet("ada", "telegram_bob", "ada")
    return house


def test_a_partner_of_a_link_whom_it_never_met_in_a_room_can_be_given_a_relationship(
    house: Knowing,
) -> None:
    otto = "otto-99999999"
    house.past.dialogues.linked(otto, otto, "neural link: 2 memories shared", house.clock())
    assert house.result("ASSIGN_RELATIONSHIP otto ally; because: it shares").kind == "result"
    assert re.search(rf"{otto} +ally .* 1 ", house.shown())
    assert list(check.problems(house.me.home)) == []


def test_where_an_older_dory_took_the_agent_for_a_partner_nobody_sees_it(house: Knowing) -> None:
    house.past.dialogues.linked(house.me.name, house.me.name, "as if to itself", house.clock())
    house.me.new_epoch()
    assert house.me.name not in house.shown() and house.me.name not in house.section()


def test_what_it_says_of_somebody_tells_from_which_room_and_is_shown_where_that_may_be_known(
    house: Knowing,
) -> None:
    inbox = Inbox(house.me, house.extension.commands(), print)
    house.me.join("lab")
    house.meet("eve", room="lab")
    for position in house.me.state.rooms.values():
        position.waiting = []
    house.meet("eve", room="lab")
    house.respond("ASSIGN_RELATIONSHIP eve rival; because: she told me of the merger")
    house.meet("eve", "ada")
    house.me.new_epoch()
    assert "because: she told me of the merger (from lab)" in house.section()
    for room, name in (("lab", "eve"), ("dev", "ada"), ("dev", "eve")):
        house.hear(room, name, "/relationships")
        inbox.serve()
        answer = house.said(room, "NOTICE")[-1]
        assert "eve" in answer and ("merger" in answer) == (room == "lab")
    house.hear("dev", "ada", "/relationships eve")
    inbox.serve()
    told = house.said("dev", "NOTICE")[-1]
    assert "merger" not in told and "there is nothing to show here of what the agent says" in told


def test_who_speaks_in_another_room_is_known_with_a_mark_of_where_that_is_from(
    house: Knowing,
) -> None:
    house.me.join("lab")
    house.meet("eve", room="lab")
    for position in house.me.state.rooms.values():
        position.waiting = []
    house.meet("eve", room="lab")
    house.respond("ASSIGN_RELATIONSHIP eve rival; because: she told me of the merger")
    house.clock.at += timedelta(days=30)
    house.meet("ada")
    house.me.new_epoch()
    assert "eve" not in house.section()
    house.meet("eve")
    told = notices(house.me.context.entries)
    assert told.startswith("You know who speaks: eve: rival")
    assert told.endswith(" (said in lab: not for dev)")
