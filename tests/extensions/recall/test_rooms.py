"""What is recalled keeps to its room: by people, by the agent, and in cues."""

from pathlib import Path

import pytest

from dory.extensions import Stores
from dory.extensions.people.conversations import HELD
from dory.extensions.recall.extension import RecallExtension
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.turn.extension import Extension
from dory.turn.inbox import Inbox
from dory.types import Call, Line
from tests.support.household import Living

SECRET = "the merger with Umbrella closes on Friday"


class Recalling(Living):
    """Bob tells a secret in the ``lab``; Ada is in ``dev``. ``private`` are rooms."""

    private: tuple[str, ...] = ()

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        secrets = RoomSecrets(me, owners=["olga"], private=self.private)
        self.extension = RecallExtension(
            me, past.store, past.chronicle, past.search, cues=True, secrets=secrets
        )
        self.inbox = Inbox(
            me,
            self.extension.commands(),
            print,
            cue=lambda line: self.extension.cue(line),
            secrets=secrets,
        )
        return [self.extension]

    def listen(self) -> None:
        self.inbox.receive()
        while work := self.extension.background():
            work()()

    def asked(self, room: str, name: str, query: str = "merger Umbrella") -> str:
        self.hear(room, name, f"/recall {query}")
        self.inbox.serve()
        return self.said(room, "NOTICE")[-1]


@pytest.fixture
def house(tmp_path: Path) -> Recalling:
    house = Recalling(tmp_path / "home")
    house.me.join("lab")
    house.hear("lab", "bob", SECRET)
    house.hear("dev", "ada", "hello")
    house.listen()
    house.respond("SAY lab I keep the merger to myself.\nSAY dev Hello Ada.")
    house.listen()
    return house


def test_people_find_what_was_said_in_a_room_only_there_or_where_all_were_there(
    house: Recalling,
) -> None:
    assert "Umbrella" in house.asked("lab", "bob")
    assert house.asked("dev", "ada").startswith('no hits for "merger Umbrella"; try other words')
    told = house.asked("dev", "bob")
    assert told.startswith('no hits for "merger Umbrella"; more was said in lab: ask there')
    assert "Friday" not in told
    house.me.join("study")
    assert "Friday" in house.asked("study", "bob"), "he was there, and nobody else is here"


def test_nobody_is_told_which_words_there_are_in_rooms_that_they_may_not_know(
    house: Recalling,
) -> None:
    house.hear("dev", "ada", "my kettle is red")
    house.listen()
    told = house.asked("dev", "ada", "kettle umbrela zebra")
    assert "kettle" in told and "mbrella" not in told and "nothing has" not in told
    house.me.join("office")
    told = house.asked("office", "olga", "kettle umbrela zebra")
    assert "umbrella" in told and "zebra" in told, "who may see everything is told"


def test_an_owner_finds_everything_where_nobody_else_reads(house: Recalling) -> None:
    house.me.join("office")
    told = house.asked("office", "olga")
    assert "Friday" in told and "-> in its context at #" in told and "your context" not in told
    house.fade(house.me.context.entries, "Bob's merger")
    assert "-> /show " in house.asked("office", "olga")
    assert "Friday" not in house.asked("dev", "olga")
    assert "more was said in lab: ask there" in house.asked("dev", "olga")


def test_what_the_agent_thought_is_for_nobody_who_may_not_see_everything(
    house: Recalling,
) -> None:
    house.respond("<think>Bob's merger is with Umbrella.</think>\nSAY dev I am well.")
    house.respond("SAY dev All is well, whether a merger comes or not.")
    house.listen()
    answer = house.asked("dev", "ada")
    assert "Bob" not in answer and "All is well" in answer and answer.endswith("-> chats/dev.md")


def test_the_agent_finds_everything_and_is_told_what_is_not_for_the_room(house: Recalling) -> None:
    house.hear("dev", "ada", "what do you know of a merger?")
    house.listen()
    found = house.extension.recall("merger Umbrella")
    assert "not for" not in found, "what is asked beside any room has no marks"
    house.me.state.rooms["lab"].waiting = []
    (hit,) = (line for line in recalled(house) if "Friday" in line)
    assert "(said in lab: not for dev) -> in your context" in hit
    house.me.state.rooms["dev"].waiting = []
    house.hear("lab", "bob", "and?")
    house.listen()
    assert not any("not for" in line for line in recalled(house)[:2])


def recalled(house: Recalling) -> list[str]:
    """The hits of the tool."""
    (tool,) = house.extension.tools()
    return tool.run(Call("RECALL", "merger Umbrella Friday")).text.splitlines()[1:]


def test_of_a_private_room_the_agent_is_told_so(tmp_path: Path) -> None:
    Recalling.private = ("lab",)
    try:
        house = Recalling(tmp_path / "home")
        house.me.join("lab")
        house.hear("lab", "bob", SECRET)
        house.hear("dev", "bob", "hello")
        house.listen()
        house.me.state.rooms["lab"].waiting = []
        assert any("(private room lab: not for dev)" in line for line in recalled(house))
        assert "Friday" not in house.asked("dev", "bob")
        house.me.join("office")
        assert "Friday" not in house.asked("office", "olga"), "not even to an owner"
    finally:
        Recalling.private = ()


def test_a_cue_names_nothing_of_another_room(house: Recalling) -> None:
    house.me.join("dev")
    entries = [entry for entry in house.me.context.entries if SECRET in entry.body]
    hash = house.fade(entries, "Bob's merger")
    for name, room in (("ada", "dev"), ("bob", "lab")):
        house.hear(room, name, "when does the merger with Umbrella close, on Friday?")
        house.listen()
        newest = house.me.context.entries[-1].body
        assert ("Bob's merger" in newest and hash[:16] in newest) == (room == "lab")


def test_a_stretch_of_several_rooms_is_no_cue_where_one_of_them_may_not_be_named(
    house: Recalling,
) -> None:
    house.hear("dev", "ada", "my tortoise is called Hortensia")
    house.listen()
    entries = house.me.context.entries
    house.fade(entries, "Bob's merger, Ada's tortoise")
    house.hear("dev", "ada", "what is my tortoise Hortensia called?")
    house.listen()
    assert "merger" not in house.me.context.entries[-1].body


def test_what_people_said_keeps_to_its_room_when_it_is_summed_up(house: Recalling) -> None:
    dialogues = house.past.dialogues
    with house.past.store.writing():
        lines = [
            Line("lab", "USER", "bob", "2026-03-02T12:00:00Z", f"point {number}", number)
            for number in range(HELD + 1)
        ]
        dialogues.add("lab", lines, house.me.name, 0, HELD, house.clock())
        batch = dialogues.batch(300)
        assert batch
        batch.keep("Bob told of a walrus called Waldemar who plays chess.", house.clock())
    house.me.state.rooms["lab"].waiting = []
    question = "who is the walrus called Waldemar who plays chess?"
    for room, name in (("dev", "ada"), ("lab", "bob")):
        house.hear(room, name, question)
        house.inbox.receive()
        newest = house.me.context.entries[-1].body
        assert ("summary 1 of your conversations" in newest) == (room == "lab"), newest
        if room == "dev":
            (tool,) = house.extension.tools()
            found = tool.run(Call("RECALL", "walrus Waldemar chess")).text
            (hit,) = (line for line in found.splitlines() if "plays **chess**" in line)
            assert "(said in lab: not for dev)" in hit
            assert "Waldemar who" not in house.asked("dev", "ada", "Waldemar").partition("\n")[2]
