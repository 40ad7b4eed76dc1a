"""A flood in a room: a bounded part of it is read, whoever asks is heard, and the rest is accounted
for, also over a kill.
"""

import threading
from itertools import pairwise
from pathlib import Path

import pytest

from dory import check
from dory.clock import utc
from dory.identity import room_position
from dory.storage import files
from dory.storage.message_ends import PART
from dory.turn import flood
from dory.turn.command_desk import COMMANDS
from dory.turn.extension import Command
from dory.turn.inbox import Inbox
from tests.support.compacting import House, Scripted
from tests.support.household import Household, bodies, held, killed_everywhere


def pour(house: Household, count: int, room: str = "dev", kind: str = "USER") -> None:
    """So many short lines by three speakers, in one write as from a program."""
    lines = [
        f"[{kind}:bot{number % 3} 2026-03-02T12:00:04Z] line number {number} of the flood\n"
        for number in range(count)
    ]
    with open(house.me.rooms.path(room), "ab") as file:
        file.write("".join(lines).encode())


def heard(house: Household) -> list[str]:
    return [body.partition("] ")[2] for body in bodies(house.me.context.entries, "heard")]


def quietly(text: str) -> None:
    """Nobody reads what a killed process prints."""


def drained(inbox: Inbox) -> None:
    inbox.receive()
    while inbox.behind:
        inbox.receive()


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return Household(tmp_path / "home")


def test_what_is_read_of_a_flood_does_not_grow_with_it(tmp_path: Path) -> None:
    entries, characters = [], []
    for count in (5_000, 20_000):
        house = Household(tmp_path / str(count))
        pour(house, count)
        drained(Inbox(house.me, [], print))
        entries.append(len(house.me.context.entries))
        characters.append(house.me.context.characters)
    assert entries[0] == entries[1] < 100 and characters[1] < characters[0] + 200


def test_a_moderate_crowd_is_read_whole(house: Household) -> None:
    pour(house, flood.LINES - 10)
    Inbox(house.me, [], print).receive()
    assert len(heard(house)) == flood.LINES - 10


def test_a_very_long_message_is_no_flood(house: Household) -> None:
    house.hear("dev", "ada", "word " * 200_000)
    house.hear("dev", "ada", "what do you say to that?")
    Inbox(house.me, [], print).receive()
    assert len(heard(house)) == 2 and house.me.state.rooms["dev"].unheard == []


def test_who_asks_in_the_middle_of_a_flood_is_heard_and_waits(house: Household) -> None:
    pour(house, 3000)
    house.hear("dev", "ada", f"{house.me.name}, what was my hotel called?")
    house.hear("dev", "ada", "the one in Lisbon")
    pour(house, 3000)
    house.hear("dev", "bob", "is anybody here?")
    pour(house, 3000)
    Inbox(house.me, [], print).receive()
    said = heard(house)
    assert f"{house.me.name}, what was my hotel called?" in said and "is anybody here?" in said
    assert "the one in Lisbon" in said, "the newest line of each person"
    assert said[-1] == "line number 2999 of the flood", "and the newest of all"
    assert house.me.state.awake and {"ada", "bob"} <= set(house.me.state.rooms["dev"].waiting)


def test_one_notice_says_how_much_was_passed_over_by_whom_and_where_it_stands(
    house: Household,
) -> None:
    house.hear("dev", "ada", "hello")
    inbox = Inbox(house.me, [], print)
    inbox.receive()
    house.me.state.turn += 1
    pour(house, 6000)
    inbox.receive()
    (notice,) = bodies(house.me.context.entries, "notice")[1:]
    assert notice.startswith(
        "5,960 lines in dev were too many for you and not read: 1,987 by bot0, 1,987 by bot1, 1,986"
        " by bot2. They stand in chats/dev.md, lines 3-5962. READ_FILE chats/dev.md 3-43 shows"
    )
    assert "line number 0 of" in house.result("READ_FILE chats/dev.md 3-43").body
    assert "line number 5959 of" in house.result("READ_FILE chats/dev.md 5962-5962").body


def test_every_line_is_either_heard_or_noted_as_passed_over(house: Household) -> None:
    pour(house, 5000)
    house.hear("dev", "ada", f"{house.me.name}, hello")
    pour(house, 5000)
    drained(Inbox(house.me, [], print))
    room = house.restart().state.rooms["dev"]
    parts = sorted([*room.unheard, *([*part] for part in room.heard(0))])
    assert parts[0][0] == 0 and parts[-1][1] == room.read == house.me.rooms.size("dev")
    assert all(before[1] == after[0] for before, after in pairwise(parts))
    inside = [
        line.text
        for first, last in room.heard(0)
        for line in house.me.rooms.stretch("dev", first, last)[0]
    ]
    assert inside == heard(house) and list(check.problems(house.home)) == []


def test_after_a_kill_at_any_instant_a_flood_is_told_of_and_read_once(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    pour(house, flood.LINES + 500)
    house.hear("dev", "ada", f"{house.me.name}, hello")
    for _ in killed_everywhere(house, lambda: Inbox(house.me, [], quietly).receive()):
        Inbox(house.me, [], quietly).receive()
        notices = bodies(house.me.context.entries, "notice")
        assert sum("too many for you" in notice for notice in notices) == 1
        assert len(heard(house)) == len(set(heard(house))) and f"{house.me.name}, hello" in heard(
            house
        )
        assert house.me.state.rooms["dev"].read == house.me.rooms.size("dev")


def test_between_two_turns_no_more_is_taken_in_however_much_is_said(house: Household) -> None:
    inbox = Inbox(house.me, [], print)
    pour(house, 3000)
    inbox.receive()
    before = len(house.me.context.entries)
    for _ in range(3):
        pour(house, 3000)
        assert not inbox.receive()
    assert len(house.me.context.entries) == before and house.me.state.awake
    house.me.state.turn += 1  # the model has answered
    assert inbox.receive() and len(house.me.context.entries) < before + 100


def test_a_flood_of_agents_does_not_wake_a_sleeper_and_a_person_behind_it_does(
    house: Household,
) -> None:
    inbox = Inbox(house.me, [], print)
    for _ in range(3):
        pour(house, 3000, kind="AGENT")
        inbox.receive()
    before = len(house.me.context.entries)
    assert not house.me.state.awake and before < 100
    house.hear("dev", "ada", "are you there?")
    inbox.receive()
    assert house.me.state.awake and heard(house)[-1] == "are you there?"


def test_a_flood_larger_than_one_step_is_passed_over_before_the_turn(house: Household) -> None:
    inbox = Inbox(house.me, [], print)
    line = b"[USER:bot 2026-03-02T12:00:04Z] " + b"x" * 4000 + b"\n"
    with open(house.me.rooms.path("dev"), "ab") as file:
        file.write(line * (2 * flood.SCANNED * PART // len(line)))
    house.hear("dev", "ada", "hello")
    inbox.receive()
    assert inbox.behind and inbox.has_changed() and "hello" not in heard(house)
    drained(inbox)
    assert heard(house)[-1] == "hello"
    house.me.leave("dev")
    assert not inbox.receive() and not inbox.behind


def test_leaving_a_room_in_the_middle_of_its_flood_does_not_hold_the_turns_up(
    house: Household,
) -> None:
    inbox = Inbox(house.me, [], print)
    with open(house.me.rooms.path("dev"), "ab") as file:
        file.write(b"[USER:bot 2026-03-02T12:00:04Z] x\n" * (2 * flood.SCANNED * PART // 30))
    inbox.receive()
    assert inbox.behind
    house.me.leave("dev")
    inbox.receive()
    assert not inbox.behind


def test_a_flood_in_one_room_does_not_drown_another(house: Household) -> None:
    house.me.join("lab")
    pour(house, 5000, room="dev")
    house.hear("lab", "ada", "hello from the lab")
    Inbox(house.me, [], print).receive()
    assert "hello from the lab" in heard(house)


def test_of_very_many_commands_the_newest_are_run_and_the_room_is_told(house: Household) -> None:
    run: list[str] = []

    def note(text: str) -> str:
        run.append(text)
        return "done"

    for number in range(COMMANDS + 30):
        house.hear("dev", "ada", f"/note {number}")
    inbox = Inbox(house.me, [Command("/note <text>", note)], print)
    inbox.receive()
    inbox.receive()
    assert run == [str(number) for number in range(30, COMMANDS + 30)]
    (told,) = [text for text in house.said("dev", "NOTICE") if "not run" in text]
    assert told.startswith("30 commands not run")


def test_an_agent_answers_a_person_while_a_program_floods_its_room(tmp_path: Path) -> None:
    house = House(
        tmp_path,
        Scripted(
            lambda prompt: "SAY dev Here I am." if "are you there?" in prompt.text else "WAIT"
        ),
        context_limit=20_000,
    )
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set() and files.size(house.me.rooms.path("dev")) < 6_000_000:
            line = f"[USER:bot 2026-03-02T12:00:04Z] line {number} of a flood without an end\n"
            number += 1
            with open(house.me.rooms.path("dev"), "ab") as file:
                file.write(line.encode() * 500)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        house.me.rooms.say("dev", "USER", "ada", f"{house.me.name}, are you there?", utc())
        house.live(lambda: any(line.kind == "AGENT" for line in house.me.rooms.recent("dev", 800)))
    finally:
        stop.set()
        writer.join()
    assert any("are you there?" in entry.body for entry in house.me.context.entries)
    house.live(lambda: house.asleep() and not house.agent.inbox.behind)
    assert list(check.problems(house.home)) == []


def test_a_flood_of_lines_without_a_tag_is_told_of_once(house: Household) -> None:
    with open(house.me.rooms.path("dev"), "ab") as file:
        file.write(b"y\n" * 50_000)
    house.hear("dev", "ada", "hello")
    for _ in range(2):
        drained(Inbox(house.me, [], print))
        house.me.state.turn += 1
        house.restart()
    (told,) = house.said("dev", "NOTICE")
    assert told.startswith("a line without a tag was not heard: y; write")
    assert heard(house) == ["hello"]


@pytest.mark.parametrize("size", [100, 200_000, 3 * PART], ids=["short", "long", "very long"])
def test_behind_a_flood_it_knows_where_it_stands(tmp_path: Path, size: int) -> None:
    house = Household(tmp_path)
    run: list[str] = []

    def note(text: str) -> str:
        run.append(text)
        return "done"

    inbox = Inbox(house.me, [Command("/note <text>", note)], print)
    house.hear("dev", "ada", "/note one")
    pour(house, 3000)
    house.hear("dev", "ada", "/note two")
    house.hear("dev", "bob", "word " * (size // 5))
    drained(inbox)
    assert run == ["one", "two"]
    position = house.me.state.rooms["dev"]
    assert room_position.stands(house.me.rooms, "dev", position)
    for known in (position.heard_last, position.run_last):
        assert max(int(message.split()[1]) for message in known) >= size and len(known) == 8
    path = house.me.rooms.path("dev")
    path.write_bytes(path.read_bytes().replace(b"line number 7 ", b"a longer line number 7 ", 1))
    house.me.state.turn += 1
    house.hear("dev", "ada", "/note three")
    house.hear("dev", "ada", "new")
    inbox.receive()
    assert heard(house)[-1] == "new" and run == ["one", "two", "three"]
    notices = bodies(house.me.context.entries, "notice")
    assert sum("was edited or exchanged" in notice for notice in notices) == 1
    assert list(check.problems(house.home)) == []


def test_a_room_that_is_held_in_the_middle_of_its_flood_does_not_hold_the_turns_up(
    house: Household,
) -> None:
    inbox = Inbox(house.me, [], print)
    with open(house.me.rooms.path("dev"), "ab") as file:
        file.write(b"[USER:bot 2026-03-02T12:00:04Z] x\n" * (2 * flood.SCANNED * PART // 30))
    inbox.receive()
    assert inbox.behind
    with held(house.me.rooms.path("dev")):
        inbox.receive()
        assert not inbox.behind
    house.me.state.turn += 1
    drained(inbox)
    assert house.me.state.rooms["dev"].read == house.me.rooms.size("dev")


def test_the_notice_of_a_flood_names_nobody_as_an_agent_who_is_none(house: Household) -> None:
    line = f"[USER:{house.me.name} 2026-03-02T12:00:04Z] x\n".encode()
    with open(house.me.rooms.path("dev"), "ab") as file:
        file.write(line * 3000)
    Inbox(house.me, [], print).receive()
    assert "by (a person)." in bodies(house.me.context.entries, "notice")[-1]
