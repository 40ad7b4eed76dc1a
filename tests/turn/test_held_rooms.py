"""A room that another program holds: the others go on, and what is to be said there comes later."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from dory.turn import outbox
from dory.turn.extension import Command
from dory.turn.inbox import Inbox
from tests.support.household import Household, bodies, held
from tests.turn.test_inbox import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(Household(tmp_path / "home"))


def test_a_room_that_another_program_holds_is_told_once_and_the_others_go_on(desk: Desk) -> None:
    house = desk.house
    house.respond("JOIN lab")
    desk.inbox.receive()
    for room in ("dev", "lab"):
        house.hear(room, "ada", f"hello {room}")
    with held(house.me.rooms.path("dev")):
        assert desk.inbox.receive()
        house.hear("lab", "ada", "/note x")
        desk.inbox.receive()
        assert [line.partition("] ")[2] for line in desk.heard()] == ["hello lab"]
        (told,) = desk.logged
        assert told.startswith("the room dev is held by another program")
        assert told.endswith("; its lines come later")
        assert bodies(house.me.context.entries, "notice")[-2:] == [told, "noted x"]
    assert desk.inbox.receive()
    assert [line.partition("] ")[2] for line in desk.heard()] == ["hello lab", "hello dev"]


def test_what_could_not_be_said_waits_and_is_said_once_in_its_order_also_over_kills(
    desk: Desk,
) -> None:
    house = desk.house
    for _ in range(2):
        with held(house.me.rooms.path("dev")):
            result = house.result("SAY dev one\nSAY dev two hunter2-hunter2").body
            assert result.endswith("what you said waits, and is said there by itself")
            outbox.post(house.me, "three")
            house.me.commit()
            house.restart()
            desk.open()
            desk.inbox.receive()
            assert "hunter2" not in (house.me.folder / "state.json").read_text()
            house.hear("lab", "ada", "this room is not held")
        for _ in range(2):
            house.restart()  # as after a kill before the commit that forgets what was said
            desk.open()
            desk.inbox.receive()
        house.me.commit()
        assert house.restart().state.notices == []
    said = [(line.kind, line.text) for line in house.me.rooms.read("dev", 0)]
    assert said == [("AGENT", "one"), ("AGENT", "two [secret]"), ("NOTICE", "three")] * 2


def test_a_command_is_answered_as_soon_as_its_room_is_free_again(desk: Desk) -> None:
    house = desk.house
    house.hear("dev", "ada", "/note x")
    path = house.me.rooms.path("dev")

    def hold(text: str) -> str:
        house.me.notice(f"noted {text}")
        holding.enter_context(held(path))
        return "done"

    with ExitStack() as holding:
        desk.inbox = Inbox(house.me, [Command("/note <text>", hold)], desk.logged.append)
        desk.inbox.receive()
        assert house.said("dev", "NOTICE") == []
        house.me.commit()
    house.restart()
    desk.open()
    desk.inbox.receive()
    desk.inbox.receive()
    assert house.said("dev", "NOTICE") == ["done"]
    assert bodies(house.me.context.entries, "notice").count("noted x") == 1
