"""What people see while a model writes and tools run: the side channel beside a room's file."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dory.control import Control
from dory.errors import ModelAway
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.storage import live
from dory.storage.live import Live
from dory.text.thoughts import CLOSING
from dory.turn import activity as activity_module
from dory.turn.activity import Activity
from dory.turn.core_tools import CoreTools
from dory.turn.extension import Outcome, Tool
from dory.types import Call, Prompt, Purpose, Reply, Usage
from tests.support.compacting import House, Scripted

SOON = 10.0


class Writing(Scripted):
    """A model that writes its first answer piece by piece, each when it is asked to; then it says
    that it is done.
    """

    def __init__(self, *pieces: str) -> None:
        super().__init__()
        self.pieces = pieces
        self.written = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        text = "" if self.pieces else "SAY dev done"
        for piece in self.pieces:
            text += piece
            assert control
            control.on_text(piece)
            self.written.release()
            assert self.go.acquire(timeout=SOON)
        self.pieces = ()
        return Reply(text, "", Usage(purpose, self.name, 1, None, 1, 0.0))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are written without a pause in between, so that none is skipped here."""
    monkeypatch.setattr(activity_module, "PAUSE", 0.0)


def shown(house: House, room: str = "dev") -> list[tuple[str, str]]:
    """What is shown in a room: doing and text."""
    return [(live.doing, live.text) for live in read(house, room)]


def read(house: House, room: str = "dev") -> list[Live]:
    return live.read(house.home / "chats", room)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextmanager
def living(house: House) -> Iterator[None]:
    """The loop, in another thread."""
    house.agent.stop.asked = False
    thread = threading.Thread(target=house.agent.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        house.agent.stop.asked = True
        thread.join(SOON)
        assert not thread.is_alive()


def test_a_message_is_shown_as_it_is_written_and_stands_in_the_room_once(tmp_path: Path) -> None:
    model = Writing("SAY dev Once upon ", "a time there ", "was a fish.")
    house = House(tmp_path, model)
    house.say("tell me")
    with living(house):
        for text in ("Once upon", "Once upon a time there", "Once upon a time there was a"):
            assert model.written.acquire(timeout=SOON)
            until(lambda text=text: shown(house) == [("writes", text)])  # type: ignore[misc]
            assert house.lines("AGENT") == []
            model.go.release()
        until(lambda: shown(house) == [])
        until(house.asleep)
    assert house.lines("AGENT") == ["Once upon a time there was a fish."]


def test_what_a_tool_line_does_is_shown_and_its_argument_when_it_is_whole(tmp_path: Path) -> None:
    model = Writing("READ_FILE MEM", "ORY.md\n", "EDIT_FILE USER.md\n", "WAIT")
    house = House(tmp_path, model)
    house.say("what do you know?")
    with living(house):
        for doing in ("reads", "reads MEMORY.md", "edits USER.md", "waits"):
            assert model.written.acquire(timeout=SOON)
            until(lambda doing=doing: shown(house) == [(doing, "")])  # type: ignore[misc]
            model.go.release()
        until(lambda: house.asleep() and shown(house) == [])


def test_while_nothing_is_written_the_agent_thinks_where_people_wait(tmp_path: Path) -> None:
    model = Writing("", "WAIT")
    house = House(tmp_path, model)
    house.me.join("ops")
    house.say("hello")
    with living(house):
        assert model.written.acquire(timeout=SOON)
        until(lambda: shown(house) == [("thinks", "")])
        assert shown(house, "ops") == []
        model.go.release()
        model.go.release()
        until(lambda: house.asleep() and shown(house) == [])


def test_a_failed_call_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(prompt: Prompt) -> str:
        time.sleep(0.3)
        raise ModelAway("gone")

    house = House(tmp_path, Scripted(turn=fail))
    house.say("hello")
    with living(house):
        until(lambda: shown(house) == [("thinks", "")])
        until(lambda: bool(house.lines("NOTICE")) and shown(house) == [])


def test_what_a_killed_process_has_left_is_gone_when_the_agent_wakes(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    live.show(tmp_path / "chats", "dev", Live(house.me.name, "writes", "half a"))
    house.wake()
    assert shown(house) == []


def activity(house: House, *tools: Tool) -> Activity:
    own = CoreTools(house.me, house.config).tools()
    return Activity(house.me, [*own, *tools])


def waiting(house: House, *rooms: str) -> None:
    for room in rooms:
        if room not in house.me.subscriptions():
            house.me.join(room)
        house.me.state.rooms[room].waiting = ["ada"]


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path, Scripted())
    house.agent.inbox.receive()
    return house


def test_a_plain_answer_is_shown_where_it_will_go_if_one_room_waits(house: House) -> None:
    seen = activity(house)
    seen.wrote("WAIT", "fish")
    waiting(house, "dev")
    seen.writes("I should look it up", "fish")
    assert shown(house) == [("writes", "")], "beside a tool line it would be a thought"
    seen.plainly = True
    seen.writes("Well, I think so", "fish")
    assert shown(house) == [("writes", "Well, I think")]
    waiting(house, "ops")
    seen.writes("Well, I think so, too.", "fish")
    assert shown(house) == shown(house, "ops") == [("writes", "")]


def test_what_a_tool_is_given_is_shown_only_where_every_room_may_be_shown(house: House) -> None:
    waiting(house, "dev", "ops")
    house.say("what was it about the vault?")
    house.me.rooms.say("ops", "USER", "bob", "hello", house.me.now())
    secrets = RoomSecrets(house.me, owners=["ada"])
    seen = Activity(house.me, CoreTools(house.me, house.config).tools(), secrets)
    seen.writes("READ_FILE workspace/vault.txt\n", "fish")
    assert shown(house) == [("reads workspace/vault.txt", "")]
    assert shown(house, "ops") == [("reads …", "")]
    seen.ends()
    house.me.state.rooms["ops"].waiting = []
    house.me.state.rooms["dev"].waiting = []
    seen.runs(Call("READ_FILE", "workspace/vault.txt"))
    assert shown(house, "ops") == [("reads …", "")], "nobody waits"


def test_thoughts_are_never_shown(house: House) -> None:
    waiting(house, "dev")
    seen = activity(house)
    for partial in (
        "<",
        "<thi",
        "<think>",
        "<thinking>She wants",
        "<scratchpad>\nno ",
        "<think>She wants it. ",
        "<think>\nSAY dev no way ",
    ):
        seen.writes(partial, "fish")
        assert shown(house) == [("thinks", "")], partial
    seen.writes("<think>\nSAY dev no way </think>\n\nSAY dev with pleasure ", "fish")
    assert shown(house) == [("writes", "with pleasure")]


def test_thoughts_that_are_marked_at_their_end_only_are_not_shown_either(house: House) -> None:
    waiting(house, "dev")
    seen = activity(house)
    seen.plainly = True
    seen.writes("She wants to hear a joke. ", "fish")
    assert shown(house) == [("thinks", "")], "nobody knows yet how this model writes"
    seen.writes("She wants to hear a joke. </think>A fish ", "fish")
    assert shown(house) == [("writes", "A fish")]
    seen.wrote("She wants to hear a joke. </think>A fish walks into a bar.", "fish")
    seen.writes("SAY dev is what I could write ", "fish")
    assert shown(house) == [("thinks", "")]
    seen.wrote("A fish walks into a bar.", "fish")
    seen.writes("A fish ", "fish")
    assert shown(house) == [("writes", "A fish")]


def test_a_secret_is_hidden_and_so_is_a_word_that_may_become_one(house: House) -> None:
    secret = "sk-0123456789abcdef"
    house.me = Identity(house.home, house.hash, house.me.now, [secret])
    waiting(house, "dev")
    seen = activity(house)
    for end in range(len(secret) + 1):
        seen.writes(f"SAY dev the key: {secret[:end]}", "fish")
        assert "sk-" not in str(read(house))
    seen.writes(f"SAY dev the key: {secret} it is", "fish")
    assert "it" in read(house)[0].text and "sk-" not in str(read(house))


def test_a_hidden_tool_shows_nothing_of_what_it_is_given(house: House) -> None:
    seen = activity(house, Tool("KEEP <text>", lambda call: Outcome(""), hidden=True))
    seen.runs(Call("KEEP", "to myself"))
    assert shown(house) == [("keep", "")]


def test_an_original_is_named_by_its_gist(house: House) -> None:
    house.hear(29)
    house.compact()
    entry = next(entry for entry in house.me.context if entry.hash)
    seen = activity(house)
    seen.runs(Call("UNCOMPACT", entry.hash or ""))
    ((doing, _),) = shown(house)
    assert doing.startswith("opens ") and doing[6:16] == entry.gist[:10]


def test_work_beside_the_loop_is_shown_while_it_lasts(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.hear(29)
    house.model.released.clear()
    house.compaction.start()
    with living(house):
        until(lambda: shown(house) == [("compacts", "")])
        house.model.released.set()
        until(lambda: shown(house) == [])


def test_nothing_is_written_while_nothing_changes(house: House) -> None:
    waiting(house, "dev")
    seen = activity(house)
    seen.writes("SAY dev one moment ", "fish")
    path = next((house.home / "chats" / ".live").rglob("*.json"))
    first = path.stat().st_ino
    for _ in range(5):
        seen.writes("SAY dev one moment ", "fish")
    assert path.stat().st_ino == first
    seen.writes("SAY dev one moment please ", "fish")
    assert json.loads(path.read_text())["text"] == "one moment please"


def test_a_record_is_repeated_before_it_is_taken_for_a_dead_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting(house, "dev")
    seen = activity(house)
    seen.writes("", "fish")
    path = next((house.home / "chats" / ".live").rglob("*.json"))
    first = path.stat().st_ino
    monkeypatch.setattr(activity_module, "REPEAT", 0.0)
    seen.writes("", "fish")
    assert path.stat().st_ino != first


def test_of_an_endless_answer_only_the_beginning_is_read_while_it_is_written(house: House) -> None:
    waiting(house, "dev")
    seen = activity(house)
    seen.plainly = True
    seen.wrote("no thought before it", "fish")
    seen.writes("word " * 200_000, "fish")
    (shown,) = live.read(house.home / "chats", "dev")
    assert 0 < len(shown.text) < 40_000


@pytest.mark.parametrize("blank", [" ", "\t", " \t"])
def test_a_run_of_blanks_is_searched_once_for_the_end_of_a_thought(blank: str) -> None:
    """From each blank on it took minutes for an answer of that length."""
    text = "hm" + blank * (900_000 // len(blank))
    assert CLOSING.search(text) is None
    found = CLOSING.search(f"{text}</think> hi")
    assert found and found.end() == len(text) + len("</think>")
