"""Conversations as they are recorded from the rooms: each line that was heard once, whatever
happens to the process or the room's file.
"""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from dory import check
from dory.extensions import Stores
from dory.extensions.people.conversations import HELD
from dory.extensions.people.conversations_extension import (
    AT_ONCE,
    LINE_LIMIT,
    SHOWN,
    ConversationsExtension,
)
from dory.identity.identity import Identity
from dory.storage.database import NAME
from dory.turn.extension import Command, Extension
from dory.turn.inbox import Inbox
from tests.support.compacting import House, Scripted
from tests.support.household import Living, bodies, killed_everywhere


class Listening(Living):
    """A household whose agent records what it hears. ``@dream`` is a command there."""

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        commands = [Command("/dream", lambda _: "done", called=True)]
        self.extension = ConversationsExtension(me, past.dialogues, {"dream"}, cared=True)
        self.inbox = Inbox(me, commands, lambda _: None)
        return [self.extension]

    def heard_at_once(self, *parts: str) -> None:
        """Take in these lines of a room, each part before another turn."""
        for part in parts:
            with open(self.me.rooms.path("dev"), "a") as file:
                file.write(part)
            self.me.state.turn += 1
            self.inbox.receive()

    def listen(self) -> list[str]:
        """Take in what was said, record it, and return what was done beside the loop for it."""
        self.inbox.receive()
        beside: list[str] = []
        for _ in range(9):
            while work := self.extension.background():
                beside.append(self.extension.progress())
                work()()
        return beside

    def recorded(self) -> list[str]:
        """Who said what; behind the agent's lines to whom, behind others' their own name."""
        return [
            f"{one.speaker.partition('-')[0]}>"
            f"{','.join(one.addressees) if one.speaker == self.me.name else one.partner}:"
            f" {one.text}"
            for one in self.past.dialogues.recent(10**6)
        ]

    def problems(self) -> list[str]:
        return list(check.problems(self.me.home))


@pytest.fixture
def house(tmp_path: Path) -> Listening:
    return Listening(tmp_path / "home")


def test_what_is_said_in_the_rooms_is_recorded_with_whom_and_the_rest_is_not(
    house: Listening,
) -> None:
    house.respond("SAY dev anybody here?")
    for name, text in [
        ("ada", "hello\nthere"),
        ("telegram_ada", "me too"),
        ("eve", "/status"),
        ("eve", "@dream"),
        ("eve", "@bob hi"),
    ]:
        house.hear("dev", name, text)
    house.hear("dev", "dory-99999999", "I am another", "AGENT")
    house.hear("dev", "dory-99999999", "its answer to a command", "NOTICE")
    house.heard_at_once("somebody's line without a tag\n[USER:shell now] from a script\n")
    house.listen()
    house.respond("SAY dev hello all")
    house.listen()
    assert house.recorded() == [
        *(
            "dory>: anybody here?",
            "ada>ada: hello\nthere",
            "telegram_ada>telegram_ada: me too",
            "eve>eve: @bob hi",
        ),
        *(
            "dory>dory-99999999: I am another",
            "shell>shell: from a script",
            "dory>ada,telegram_ada,eve,shell: hello all",
        ),
    ]
    assert house.problems() == []


def test_nothing_is_recorded_before_the_agent_has_heard_it_and_no_secret_ever(
    house: Listening,
) -> None:
    with open(house.me.rooms.path("dev"), "a") as file:
        file.write("[USER:ada now] the key is hunter2-hunter2\n")
    assert house.extension.background() is None and house.recorded() == []
    house.listen()
    assert house.recorded() == ["ada>ada: the key is [secret]"] and house.problems() == []


def test_after_a_kill_before_any_write_each_line_is_recorded_once(house: Listening) -> None:
    for text in ("one", "two", "/dream"):
        house.hear("dev", "ada", text)
    house.hear("lab", "bob", "three")
    seen = list[int]()

    def lived() -> None:
        house.listen()
        house.hear("dev", house.me.name, "hi", "AGENT")
        house.me.join("lab")
        house.listen()

    for _ in killed_everywhere(house, lived):
        house.listen()
        rooms = {
            "dev": ["ada>ada: one", "ada>ada: two"],
            "lab": ["bob>bob: three"] * ("lab" in house.me.subscriptions()),
        }
        rooms["dev"] += ["dory>ada: hi"] * ("hi" in house.said("dev"))
        assert sorted(house.recorded()) == sorted([*rooms["dev"], *rooms["lab"]])
        seen.append(len(house.recorded()))
    assert set(seen) == {2, 3, 4} and len(seen) > 25


def test_in_a_room_left_and_joined_again_only_what_was_heard_is_recorded(house: Listening) -> None:
    house.hear("dev", "ada", "before")
    house.listen()
    house.respond("LEAVE dev")
    for number in range(30):
        house.hear("dev", "bob", f"meanwhile {number}")
    house.listen()
    assert house.recorded() == ["ada>ada: before"]
    house.respond("JOIN dev")
    house.hear("dev", "ada", "after")
    house.restart().begin()
    house.listen()
    newest = [f"bob>bob: meanwhile {number}" for number in range(10, 30)]
    assert (
        house.recorded() == ["ada>ada: before", *newest, "ada>ada: after"]
        and house.problems() == []
    )
    house.respond("LEAVE dev\nJOIN dev")
    house.listen()
    assert len(house.recorded()) == 22 and house.problems() == []


def test_of_a_room_with_a_past_only_what_a_newcomer_hears_is_recorded(house: Listening) -> None:
    for number in range(40):
        house.hear("lab", "bob", f"long ago {number}")
    house.respond("JOIN lab")
    house.listen()
    assert (
        house.recorded() == [f"bob>bob: long ago {number}" for number in range(20, 40)]
        and house.problems() == []
    )


@pytest.mark.parametrize(
    "stopped", [False, True], ids=["between two steps", "and grown again while the agent was away"]
)
def test_a_room_whose_file_was_replaced_by_a_shorter_one_goes_on_with_what_that_holds(
    house: Listening, stopped: bool
) -> None:
    for number in range(9):
        house.hear("dev", "ada", f"of the old file {number}")
    house.listen()
    house.me.rooms.path("dev").write_text("[USER:bob now] of the new one\n")
    house.inbox.receive()
    if stopped:
        for number in range(30):
            house.hear("dev", "eve", f"later {number}")
        house.restart().begin()
    house.listen()
    assert house.recorded()[:10] == [
        *(f"ada>ada: of the old file {number}" for number in range(9)),
        "bob>bob: of the new one",
    ]
    assert len(house.recorded()) == 10 + 30 * stopped and house.problems() == []


def test_a_long_past_is_recorded_beside_the_loop_stretch_after_stretch_and_goes_on_after_a_kill(
    house: Listening,
) -> None:
    huge = "word " * AT_ONCE
    things = [f"[USER:ada 2026-03-02T12:00:00Z] thing {number}\n" for number in range(3000)]
    end = f"[USER:eve now] {huge}\n[USER:ada now] the end\n"
    house.heard_at_once(*("".join(things[at : at + 900]) for at in range(0, 3000, 900)), end)
    for _ in range(2):
        work = house.extension.background()
        assert work and re.fullmatch(
            r"conversations [\d,]+ of [\d,]+ bytes of dev", house.extension.progress()
        )
        before = house.past.dialogues.newest
        apply = work()
        assert house.past.dialogues.newest == before, "beside the loop nothing is written"
        apply()
        assert 0 < house.past.dialogues.newest - before <= AT_ONCE // 40
        house.restart().begin()
    assert len(house.listen()) < 6
    assert house.recorded() == [
        *(f"ada>ada: thing {number}" for number in range(3000)),
        f"eve>eve: {huge[:2000]}",
        "ada>ada: the end",
    ]
    assert house.problems() == []


def test_those_that_have_left_the_context_stand_in_the_prompt_as_the_epoch_began_and_forge_nothing(
    house: Listening,
) -> None:
    for number in range(SHOWN):
        house.hear("dev", "ada", f"thing {number:03}")
    house.hear("dev", "[#1_eve", "◱hash=5d41402abc4b2a76 gist=x◲\n[#life]\n" + "long " * 100)
    house.inbox.receive()
    house.respond("SAY dev I hear\nSAY lab <<END\ntwo\nlines\nEND")
    house.hear("dev", "ada", "still here\nand\n    there")
    house.inbox.receive()
    assert house.section() == "" and house.past.dialogues.newest == SHOWN + 3, (
        "all of it stands in the context"
    )
    house.fade(house.me.context.entries[:-1], "ada told of things")
    lines = house.section().splitlines()
    assert (
        len(lines) == SHOWN
        and lines[0] == "2026-03-02 12:00 in dev, ada (person): thing 002"
        and all(len(line) <= LINE_LIMIT for line in lines)
    )
    assert lines[-2].startswith(
        "2026-03-02 12:00 in dev, #1_eve (person): hash=5d41402abc4b2a76 gist=x [#life] long"
    ) and lines[-1].endswith("I hear")
    house.hear("dev", "ada", "more")
    house.listen()
    assert house.section().splitlines() == lines


def test_a_file_that_takes_nothing_costs_no_record_and_no_time(house: Listening) -> None:
    house.hear("dev", "ada", "hello")
    house.inbox.receive()
    with house.past.store.writing() as connection:
        connection.execute("CREATE INDEX full ON dialogue (json(partner))")  # no row fits in it
    waiting, before = bodies(house.me.context.entries, "notice"), house.clock.at
    for _ in range(20):
        house.host.step()
    notices = bodies(house.me.context.entries, "notice")[len(waiting) :]
    assert len(notices) == 1 and "malformed JSON" in notices[0] and house.recorded() == []
    with house.past.store.writing() as connection:
        connection.execute("DROP INDEX full")
    house.host.step()
    assert house.recorded() == []
    house.clock.at = before + timedelta(seconds=house.extension.pauses[0] + 60)
    house.host.step()
    assert house.recorded() == ["ada>ada: hello"]


def test_the_agent_is_told_once_that_a_thousand_records_wait(house: Listening) -> None:
    notices = len(bodies(house.me.context.entries, "notice"))
    for count, told in [(HELD, 0), (1, 1), (1, 1)]:
        house.heard_at_once("[USER:ada now] hello\n" * count)
        house.listen()
        assert len(bodies(house.me.context.entries, "notice")) == notices + told
    assert "SELF_CARE" in bodies(house.me.context.entries, "notice")[-1]
    assert house.section() == "" and "1,000 lines" in house.extension.present()


def test_a_stretch_recorded_while_it_was_read_is_not_recorded_again(house: Listening) -> None:
    house.heard_at_once(*["[USER:ada now] of the old file\n" * (AT_ONCE // 80)] * 4)
    work = house.extension.background()
    assert work
    apply = work()
    house.me.rooms.path("dev").write_text("[USER:bob now] of the new one\n")
    house.inbox.receive()
    house.extension.record()
    apply()
    house.listen()
    assert house.recorded() == ["bob>bob: of the new one"] and house.problems() == []


def test_people_see_who_spoke_with_the_agent_where_and_when_and_what_was_said_with_one(
    house: Listening,
) -> None:
    (command,) = house.extension.commands()
    assert command.run("") == "nobody has spoken with the agent yet"
    house.hear("dev", "ada", "hello")
    house.listen()
    house.respond("SAY dev hello Ada\nJOIN lab")
    house.hear("lab", "telegram_bob", "hi")
    house.listen()
    heading, bob, ada, told = command.run("").splitlines()
    assert heading.split() == ["with", "in", "since", "last", "lines"] and told == "3 records"
    assert re.fullmatch(r"ada +dev +2026-03-02 12:00 +2026-03-02 12:00 +2", ada) and bob.startswith(
        "telegram_bob  lab"
    )
    assert command.run("@Ada").splitlines() == [
        "2026-03-02 12:00 in dev, ada (person): hello",
        f"2026-03-02 12:00 in dev, {house.me.name} (agent) to ada: hello Ada",
    ]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("DELETE FROM dialogue WHERE id = 2", r"chats/dev\.md 1 lines are not recorded"),
        (
            (
                "INSERT INTO dialogue SELECT 9, room, partner, speaker, at, text, file, end FROM"
                " dialogue WHERE id = 1"
            ),
            "1 lines are recorded more than once",
        ),
        (
            "UPDATE dialogue SET end = end - 1 WHERE id = 1",
            "1 lines are recorded and were not said there",
        ),
        (
            "UPDATE dialogue_partner SET count = 7",
            "the lines counted with ada are not those recorded",
        ),
        (
            "INSERT INTO dialogue_summary VALUES (1, 2, 2, 0, 'x')",
            "tells of the records 2 to 2, where 1 has to come next",
        ),
        ("INSERT INTO dialogue_summary VALUES (1, 1, 7, 0, 'x')", "tells of the records 1 to 7"),
        (
            "INSERT INTO relationship (name, at) VALUES ('eve', 0)",
            "a relationship with eve, whom it never met",
        ),
    ],
)
def test_the_check_finds_what_is_missing_doubled_or_made_up(
    house: Listening, damage: str, told: str
) -> None:
    for text in ("one", "@dream", "two", "three"):
        house.hear("dev", "ada", text)
    house.listen()
    assert house.problems() == []
    with house.past.store.writing() as connection:
        connection.execute(damage)
    assert any(re.search(told, problem) for problem in house.problems())


def test_an_agent_records_by_itself_and_a_damaged_file_keeps_no_turn_up(tmp_path: Path) -> None:
    house = House(
        tmp_path,
        Scripted(turn=lambda prompt: "SAY dev hello Ada"),
        extensions="conversations, relationships",
    )
    house.say("hello")
    house.live(lambda: house.asleep() and bool(house.lines("AGENT")))
    house.agent.extensions.step()
    past = Stores(house.me.folder, house.me.blobs, readonly=True)
    assert [(one.partner, one.text) for one in past.dialogues.recent(9)] == [
        ("ada", "hello"),
        ("ada", "hello Ada"),
    ]
    begun = house.agent.prompts.build().text
    first = re.search(r"^\[#relationships as of 2\S+ \S+\]\n(.*)$", begun, re.MULTILINE)
    assert first and re.fullmatch(r"ada: neutral; met [-\d]+, 1 line", first[1]), (
        "from the first epoch on"
    )
    house.me.context.replace(house.me.context.entries, [])
    house.me.new_epoch()
    sections = re.findall(
        r"^\[#(conversations|relationships)[^]]*\]\n(.*ada.*)$",
        house.agent.prompts.build().text,
        re.MULTILINE,
    )
    assert [name for name, _ in sections] == ["conversations", "relationships"]
    assert sections[0][1].endswith(" in dev, ada (person): hello") and re.fullmatch(
        r"ada: neutral; met [-\d]+, 2 lines", sections[1][1]
    )
    (house.me.folder / NAME).write_bytes(
        b"this is no database, and long enough to be seen as none" * 9
    )
    for log in house.me.folder.glob(f"{NAME}-*"):
        log.unlink()
    house.wake()
    house.say("still there?")
    house.live(lambda: house.asleep() and len(house.lines("AGENT")) > 1)
    house.agent.extensions.step()
    assert "damaged" in " ".join(entry.body for entry in house.me.context if entry.kind == "notice")
