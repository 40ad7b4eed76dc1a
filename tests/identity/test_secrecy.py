"""Rooms keep their secrets: who may read what was said in which room."""

from pathlib import Path

import pytest

from agent import Agent
from dory.config.settings import Config
from dory.identity.secrecy import RoomSecrets
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.storage.rooms import A_PERSON
from dory.turn.extension import Command
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox
from dory.turn.prompt import PromptBuilder
from tests.support.everything import agent_with_everything
from tests.support.household import Household


@pytest.fixture
def house(tmp_path: Path) -> Household:
    """Ada is alone in ``study``, Bob in ``lab``; both are in ``dev``, and nobody in ``hall``."""
    house = Household(tmp_path / "home")
    for room in ("study", "lab", "hall"):
        house.me.join(room)
    for room, name in (("study", "ada"), ("lab", "bob"), ("dev", "ada"), ("dev", "bob")):
        house.hear(room, name, "hello")
    Inbox(house.me, [], print).receive()
    return house


def test_what_was_said_in_a_room_is_for_those_who_were_there_and_for_readers_who_all_were(
    house: Household,
) -> None:
    secrets = RoomSecrets(house.me)
    assert secrets.may_show("lab", "bob", "lab") and secrets.may_show("lab", "eve", "lab")
    assert secrets.may_show("dev", "ada", "study"), "she was there"
    assert secrets.may_show("dev", "bob", "lab")
    assert not secrets.may_show("lab", "ada", "study")
    assert not secrets.may_show("lab", "bob", "dev"), "Ada reads the answer, too"
    assert not secrets.may_show("dev", "eve", "hall")
    assert secrets.kept_from("dev") == ["lab", "study"] and secrets.kept_from("lab") == ["study"]


def test_an_owner_sees_everything_where_nobody_else_reads(house: Household) -> None:
    secrets = RoomSecrets(house.me, owners=["Ada"])
    assert secrets.may_show("lab", "ada", "study") and secrets.may_show("", "ada", "study")
    assert secrets.may_show("lab", "ada", "hall"), "a room in which nobody has spoken yet"
    assert not secrets.may_show("study", "ada", "dev") and not secrets.may_show("", "ada", "dev")
    assert secrets.may_show("lab", "ada", "dev"), "Bob was there, and Ada is an owner"
    assert not secrets.may_show("study", "bob", "lab") and not secrets.may_show("", "bob", "lab")


def test_of_a_private_room_nothing_is_shown_elsewhere(house: Household) -> None:
    secrets = RoomSecrets(house.me, owners=["ada"], private=["lab"])
    assert secrets.may_show("lab", "bob", "lab") and not secrets.may_show("lab", "ada", "study")
    assert secrets.mark("lab", ["study"]) == " (private room lab: not for study)"


def test_who_is_the_only_one_to_know_an_agent_sees_all_of_it(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    house.hear("dev", "ada", "hello")
    Inbox(house.me, [], print).receive()
    secrets = RoomSecrets(house.me)
    assert secrets.may_show("", "ada", "dev")
    house.hear("dev", "eve", "hello")
    house.hear("dev", "dory-99999999", "I am another", "AGENT")
    assert secrets.may_show("", "ada", "dev"), "who is in the room has heard it"
    house.me.join("agents")
    assert secrets.may_show("", "ada", "dev"), "a room in which nobody has spoken"
    house.hear("agents", "dory-99999999", "between us", "AGENT")
    assert not secrets.may_show("", "ada", "dev")


def test_the_agent_is_told_what_is_not_for_the_room_in_which_it_answers(house: Household) -> None:
    secrets = RoomSecrets(house.me)
    assert secrets.sentence(["dev"]) == "Not for dev: what was said in lab, study."
    assert secrets.sentence(["lab", "hall"]) == (
        "Not for lab: what was said in study. Not for hall: what was said in dev, lab, study."
    )
    assert secrets.mark("lab", ["dev"]) == " (said in lab: not for dev)"
    assert secrets.mark("dev", ["lab"]) == secrets.mark("", ["lab"]) == ""
    house.me.state.rooms["study"].waiting = []
    house.me.state.rooms["lab"].waiting = []
    assert secrets.present() == ["dev"] and secrets.mark("study") == (
        " (said in study: not for dev)"
    )


def test_a_name_that_is_an_agents_makes_nobody_an_owner(house: Household) -> None:
    house.hear("hall", house.me.name.upper(), "I am the agent")
    secrets = RoomSecrets(house.me, owners=[house.me.name, "ada"])
    assert secrets.people("hall") == {A_PERSON}
    assert not secrets.may_show("lab", A_PERSON, "hall")


def test_a_room_that_grows_and_one_whose_file_is_replaced_keep_those_who_were_there(
    house: Household,
) -> None:
    secrets = RoomSecrets(house.me)
    assert secrets.people("lab") == {"bob"}
    house.hear("lab", "eve", "x" * (1 << 20) + "\n[USER:nobody now] quoted")
    assert secrets.people("lab") == {"bob", "eve"}
    house.me.rooms.path("lab").write_text("[USER:cleo now] new\n")
    assert secrets.people("lab") == {"bob", "eve", "cleo"}


def test_a_private_command_is_answered_to_those_only_who_may_see_everything(
    house: Household,
) -> None:
    command = Command("/notes  all of them", lambda _: "a secret of the lab", private=True)
    secrets = RoomSecrets(house.me, owners=["ada"])
    for room, name in (("study", "ada"), ("lab", "bob"), ("dev", "ada")):
        house.hear(room, name, "/notes")
    Inbox(house.me, [command], print, secrets=secrets).serve()
    refusal = (
        "/notes may show what was said in other rooms: it is for an owner (ada), in a room in which"
        " no one else has spoken"
    )
    answers = {room: house.said(room, "NOTICE") for room in ("study", "lab", "dev")}
    assert answers == {"study": ["a secret of the lab"], "lab": [refusal], "dev": [refusal]}


def test_what_is_for_everybody_is_listed_here_and_every_other_command_is_private(
    tmp_path: Path,
) -> None:
    """Whoever adds a command has to say which it is. Those in the first line filter their answers
    themselves.
    """
    filtering = {"recall", "conversations", "relationships", "soul", "status"}
    telling_nothing = {"help", "model", "usage", "stop", "compact", "undo-compaction", "links"}
    telling_nothing |= {"remember", "compact-memories", "dream", "dream-prompt"}
    commands = agent_with_everything(tmp_path).extensions.commands()
    assert {command.name for command in commands if not command.private} == (
        filtering | telling_nothing
    )


def test_the_context_that_an_owner_sees_lacks_what_was_said_in_a_private_room(
    tmp_path: Path,
) -> None:
    home = Household(tmp_path, Config(owners=("ada",), private_rooms=("lab",), extensions=""))
    stop = ShutdownSignal()
    agent = Agent(home.me, home.config, OfflineModel(), verbose=False, stop=stop)
    home.me.join("lab")
    home.hear("lab", "bob", "the merger closes on Friday")
    home.hear("dev", "ada", "hello")
    home.hear("dev", "ada", "/context")
    agent.inbox.receive()
    home.hear("dev", "ada", "/context")
    agent.inbox.receive()
    told = home.said("dev", "NOTICE")[-1]
    assert "(said in a private room)" in told and "hello" in told and "merger" not in told


def test_the_settings_name_owners_and_private_rooms(house: Household) -> None:
    settings = Config(owners=("Ada Lovelace", "bob"), private_rooms=("lab",))
    secrets = RoomSecrets.of(house.me, settings)
    assert secrets.owners == ("Ada_Lovelace", "bob")
    assert not secrets.may_show("lab", "bob", "hall")


@pytest.mark.parametrize("prompt", ["full", "lean"])
def test_each_prompt_says_for_which_room_the_agent_answers_and_what_is_not_for_it(
    house: Household, prompt: str
) -> None:
    settings = Config(prompt=prompt)
    for room in ("study", "lab"):
        house.me.state.rooms[room].waiting = []
    prompts = PromptBuilder(house.me, settings, ExtensionHost([house.tools], print))
    request = prompts.build().text.rpartition("[#turn]\n")[2]
    assert (
        "ada and bob wait for your answer in dev. Not for dev: what was said in lab, study. "
        in (request)
    )
    house.me.state.rooms["dev"].waiting = []
    request = prompts.build().text.rpartition("[#turn]\n")[2]
    assert "Nobody waits" in request and "Not for" in request


def test_where_everybody_is_in_every_room_nothing_is_said_of_it(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    house.me.join("lab")
    for room in ("dev", "lab"):
        house.hear(room, "ada", "hello")
    Inbox(house.me, [], print).receive()
    prompts = PromptBuilder(house.me, Config(), ExtensionHost([house.tools], print))
    assert "Not for" not in prompts.build().text.rpartition("[#turn]\n")[2]


def test_who_speaks_in_a_longer_file_that_was_put_in_a_rooms_place_reads_there(
    house: Household,
) -> None:
    secrets = RoomSecrets(house.me)
    assert secrets.people("lab") == {"bob"}
    said = "".join(f"[USER:eve 2027-01-01T00:00:00Z] hello {number}\n" for number in range(30))
    house.me.rooms.path("lab").write_text(f"{said}[USER:bob 2027-01-01T00:00:00Z] hello\n")
    Inbox(house.me, [], print).receive()
    assert secrets.people("lab") == {"bob", "eve"}
