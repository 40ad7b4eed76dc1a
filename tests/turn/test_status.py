"""What ``/status`` tells of the self: mood, place, and what waits."""

from pathlib import Path

from agent import Agent
from dory.extensions.memories.self_care import LEAST
from tests.support.everything import agent_with_everything


def rows(agent: Agent, room: str = "dev", name: str = "ada") -> dict[str, str]:
    """The rows of ``/status`` as a person gets them."""
    agent.me.rooms.say(room, "USER", name, "/status", agent.me.now())
    agent.inbox.serve()
    (answer,) = [line.text for line in agent.me.rooms.read(room, 0) if line.kind == "NOTICE"][-1:]
    return dict(row.split(": ", 1) for row in answer.splitlines())


def act(agent: Agent, lines: str) -> None:
    """A turn of the offline model in which somebody has it do these tool lines."""
    agent.me.rooms.say("dev", "USER", "ada", f"please do: {lines}", agent.me.now())
    agent.inbox.receive()
    agent.turn()


def test_mood_and_place_and_what_waits_are_told(tmp_path: Path) -> None:
    agent = agent_with_everything(tmp_path)
    told = rows(agent)
    assert (told["mood"], told["place"], told["waits"]) == ("not said", "home", "nothing")
    act(agent, "SET_MOOD a bit tired")
    act(agent, "GO_TO_PLACE the harbour")
    for number in range(LEAST):
        agent.me.rooms.say("dev", "USER", "ada", f"/remember thing {number}", agent.me.now())
    agent.me.rooms.say("dev", "USER", "ada", "what did I say?", agent.me.now())
    agent.inbox.receive()
    told = rows(agent)
    assert (told["mood"], told["place"]) == ("a bit tired", "the harbour")
    memories = "30 memories for self-care, which the agent has not begun"
    assert told["waits"] == f"ada in dev; {memories}"
    agent.turn()
    act(agent, "GO_HOME")
    act(agent, "SELF_CARE")
    assert rows(agent)["waits"] == "self-care, 0 of 30 memories done"


def test_without_a_diary_there_is_no_mood(tmp_path: Path) -> None:
    assert rows(agent_with_everything(tmp_path, "notes")).keys().isdisjoint({"mood", "place"})


def test_what_may_tell_of_another_room_is_not_told(tmp_path: Path) -> None:
    agent = agent_with_everything(tmp_path)
    act(agent, "SET_MOOD sad about Ada's news")
    agent.me.join("lab")
    agent.me.rooms.say("lab", "USER", "bob", "hello", agent.me.now())
    agent.me.rooms.say("dev", "USER", "ada", "are you there?", agent.me.now())
    agent.inbox.receive()
    told = rows(agent, "lab", "bob")
    assert told["waits"] == "bob in lab; 1 person in other rooms"
    assert told.keys().isdisjoint({"mood", "place"})
