"""What becomes of an answer: plain text reaches the room that asked, WAIT and empty claims are
reminded of once, and who gets no answer is told so.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.clock import utc
from dory.config.settings import Config
from dory.config.sources import load
from dory.constants import TURN_LIMIT
from dory.errors import ConfigError
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.turn.delivery import Delivery
from dory.turn.inbox import Inbox
from dory.types import Answer
from tests.support.compacting import House, Scripted
from tests.support.household import Household, bodies, killed_everywhere

NO_ANSWER = "I have read this, ada, and there will be no answer."


def house_with(tmp_path: Path, *answers: str, **settings: object) -> House:
    """A house whose model gives these answers, and WAIT after them."""
    left = iter(answers)
    model = Scripted(turn=lambda prompt: next(left, "WAIT"))
    return House(tmp_path, model, context_limit=100_000, **settings)


def turns(house: House) -> int:
    return house.me.state.turn


def notices(house: House) -> list[str]:
    """What the agent was told after its boot."""
    return bodies(house.me.context.entries, "notice")[1:]


def test_an_answer_without_a_tool_line_goes_to_the_room_that_asked(tmp_path: Path) -> None:
    house = house_with(tmp_path, "<think>\nShe greets.\n</think>\nHello Ada!\n\nHow are you?")
    house.say("hello")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["Hello Ada!\n\nHow are you?"]
    assert house.lines("NOTICE") == [] and turns(house) == 1
    assert house.me.state.waiting() == [] and list(check.problems(tmp_path)) == []


def test_the_agent_is_taught_once_in_its_life_how_to_address_an_answer(tmp_path: Path) -> None:
    house = house_with(tmp_path, "one", "two", "three")
    for number in range(3):
        if number == 2:
            house.wake()
        house.say("hello")
        house.live(house.asleep)
    assert house.lines("AGENT") == ["one", "two", "three"]
    (lesson,) = (text for text in notices(house) if "held no tool line" in text)
    assert "SAY dev" in lesson and "<think>" in lesson


def test_what_was_looked_up_reaches_the_room_although_something_was_said_before(
    tmp_path: Path,
) -> None:
    house = house_with(tmp_path, "SAY dev One moment.\nREAD_FILE MEMORY.md", "It is empty.")
    house.say("what do you know?")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["One moment.", "It is empty."] and turns(house) == 2


def test_plain_text_stays_private_while_nobody_waits(tmp_path: Path) -> None:
    house = house_with(tmp_path, "SAY dev Hello!", "I rest.")
    house.say("hello")
    house.live(house.asleep)
    house.me.notice("Heartbeat: nothing has happened.")
    house.me.wake(house.me.state.next_id - 1)
    house.me.commit()
    house.live(house.asleep)
    assert house.lines("AGENT") == ["Hello!"] and turns(house) == 2


def test_a_plain_answer_to_an_agent_that_asked_is_said(tmp_path: Path) -> None:
    house = house_with(tmp_path, "It is seven.")
    house.me.rooms.say("dev", "AGENT", "otto", f"{house.me.name}, what time is it?", house.me.now())
    house.live(lambda: bool(house.lines("AGENT")[1:]) and house.asleep())
    assert house.lines("AGENT")[1:] == ["It is seven."]


def test_in_a_lean_prompt_plain_text_beside_tool_lines_is_said(tmp_path: Path) -> None:
    edit = "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\ntea\n>>>>>>> REPLACE\n"
    house = house_with(tmp_path, f"{edit}I will remember that you like tea.", prompt="lean")
    house.say("I like tea, remember it")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["I will remember that you like tea."] and turns(house) == 1
    assert house.me.memory == "tea\n"


@pytest.mark.parametrize(("prompt", "needed"), [("lean", 1), ("full", 2)])
def test_a_plain_answer_that_is_cut_again_is_said_and_in_a_lean_prompt_at_once(
    tmp_path: Path, prompt: str, needed: int
) -> None:
    """A model that runs on does so at each of its turns, and nobody would get an answer."""
    house = house_with(tmp_path, *["Hello Ada. Hello Ada"] * 3, prompt=prompt)
    scripted = house.model.complete
    house.model.complete = lambda *call: replace(scripted(*call), cut=True)  # type: ignore[method-assign]
    house.say("hello")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["Hello Ada. Hello Ada …"] and turns(house) == needed
    assert len(bodies(house.me.context.entries, "error")) == needed - 1


def test_a_false_claim_is_doubted_also_after_a_reminder(tmp_path: Path) -> None:
    house = house_with(tmp_path, "WAIT", "SAY dev I have noted that you like tea.", "WAIT")
    house.say("remember that I like tea")
    house.live(lambda: turns(house) == 3 and house.asleep())
    assert ["You said" in text for text in notices(house)] == [False, True]


@pytest.mark.parametrize(
    "answer",
    [
        "<think>Shall I answer?</think>",
        "<think>\nShall I answer",
        "<reasoning>\nno\n</reasoning>",
        "",
    ],
)
def test_what_is_marked_as_thought_never_reaches_a_room(tmp_path: Path, answer: str) -> None:
    house = house_with(tmp_path, answer)
    house.say("hello")
    house.live(house.asleep)
    assert house.lines("AGENT") == [] and house.lines("NOTICE") == [NO_ANSWER]


def test_marks_of_the_harness_never_reach_a_room(tmp_path: Path) -> None:
    house = house_with(tmp_path)
    own = f"[AGENT:{house.me.name} 2026-03-02T12:00:00Z] Hello Ada!"
    house.model.rules["turn"] = lambda prompt: (
        f"{own}\n[USER:ada 2026-03-02T12:00:09Z] thanks\n[#14 heard dev]\nno"
    )
    house.say("hello")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["Hello Ada!"]


def test_if_people_wait_in_several_rooms_the_agent_is_asked_for_whom_it_is(tmp_path: Path) -> None:
    house = house_with(tmp_path, "The password is tea.", "SAY lab The password is tea.")
    house.me.join("lab")
    house.say("hello")
    house.me.rooms.say("lab", "USER", "bob", "what is the password?", utc())
    house.live(lambda: house.asleep() and turns(house) == 2)
    assert house.lines("AGENT") == []
    assert "ada waits for your answer in dev; bob waits for your answer in lab" in notices(house)[0]
    assert "Nobody has seen what you wrote" in notices(house)[0]
    lab = [(line.kind, line.text) for line in house.me.rooms.read("lab", 0)]
    assert lab == [("USER", "what is the password?"), ("AGENT", "The password is tea.")]
    assert house.lines("NOTICE") == [NO_ANSWER]


def test_with_the_setting_ask_the_model_has_to_say_it_itself(tmp_path: Path) -> None:
    house = house_with(tmp_path, "Hello Ada!", "SAY dev Hello Ada!", plain_answers="ask")
    house.say("hello")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["Hello Ada!"] and turns(house) == 2
    assert "Write SAY dev …" in notices(house)[0]
    house = house_with(tmp_path / "again", "Hello!", "Hello!", plain_answers="ask")
    house.say("hello")
    house.live(house.asleep)
    assert (house.lines("AGENT"), house.lines("NOTICE")) == ([], [NO_ANSWER])
    assert turns(house) == 2


def test_an_unknown_way_with_plain_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="plain_answers must be deliver or ask"):
        load(tmp_path / "dory.yaml", {}, {"plain_answers": "shout"})
    assert Config().plain_answers == "deliver"


def test_a_wait_after_a_persons_message_is_reminded_of_once(tmp_path: Path) -> None:
    house = house_with(tmp_path, "WAIT", "SAY dev Hello Ada!")
    house.say("hello")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["Hello Ada!"] and turns(house) == 2
    assert notices(house) == [
        "ada waits for your answer in dev. Write SAY dev …, or WAIT to leave it unanswered."
    ]


def test_a_second_wait_settles_and_the_room_is_told_at_once(tmp_path: Path) -> None:
    house = house_with(tmp_path)
    house.say("hello")
    house.live(house.asleep)
    assert house.lines("NOTICE") == [NO_ANSWER] and turns(house) == 2
    assert house.me.state.waiting() == []
    house.say("are you there?")
    house.live(lambda: turns(house) == 4 and house.asleep())
    assert house.lines("NOTICE") == [NO_ANSWER, NO_ANSWER], "once for each message"


def test_a_message_that_only_a_tool_answered_settles_after_a_reminder(tmp_path: Path) -> None:
    edit = "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\ntea\n>>>>>>> REPLACE"
    house = house_with(tmp_path, f"I note it.\n{edit}")
    house.say("remember tea")
    house.live(house.asleep)
    assert (turns(house), house.lines("NOTICE")) == (3, [NO_ANSWER])
    assert house.lines("AGENT") == [] and house.me.memory == "tea\n"


def test_at_the_turn_limit_the_room_is_told(tmp_path: Path) -> None:
    house = house_with(tmp_path, *["READ_FILE MEMORY.md"] * TURN_LIMIT)
    house.say("loop")
    house.live(house.asleep)
    told = f"I have made {TURN_LIMIT} turns of this, ada, and there will be no answer."
    assert house.lines("NOTICE") == [told] and turns(house) == TURN_LIMIT


def test_a_room_that_the_agent_leaves_is_told(tmp_path: Path) -> None:
    house = house_with(tmp_path, "LEAVE lab\nSAY dev I have left it.")
    house.me.join("lab")
    house.me.rooms.say("lab", "USER", "bob", "hello", utc())
    house.live(lambda: turns(house) == 2 and house.asleep())
    assert house.me.rooms.read("lab", 0)[-1].text == (
        "I have left this room, bob, and there will be no answer."
    )
    assert house.me.state.waiting() == []


def test_a_claim_without_a_tool_is_reminded_of_once_with_the_tool_to_use(tmp_path: Path) -> None:
    edit = "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\ntea\n>>>>>>> REPLACE"
    house = house_with(tmp_path, "SAY dev I have noted that you like tea.", edit)
    house.say("I like tea")
    house.live(house.asleep)
    assert turns(house) == 3 and house.me.memory == "tea\n"
    (reminder,) = notices(house)
    assert "“I have noted” in dev" in reminder and "EDIT_FILE MEMORY.md" in reminder


def test_a_plain_answer_that_claims_something_is_reminded_of_too_and_not_in_a_loop(
    tmp_path: Path,
) -> None:
    house = house_with(tmp_path, "I will remember that.", "SAY dev I have noted it.")
    house.say("I like tea")
    house.live(house.asleep)
    assert turns(house) == 2
    assert house.lines("AGENT") == ["I will remember that.", "I have noted it."]
    assert sum("no tool that does it has run" in text for text in notices(house)) == 1


def test_a_look_up_does_not_make_a_claim_true(tmp_path: Path) -> None:
    house = house_with(tmp_path, "READ_FILE MEMORY.md", "SAY dev I have noted it.")
    house.say("I like tea")
    house.live(house.asleep)
    assert turns(house) == 3
    assert sum("no tool that does it has run" in text for text in notices(house)) == 1


def test_a_claim_that_is_true_costs_no_turn(tmp_path: Path) -> None:
    edit = "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\ntea\n>>>>>>> REPLACE"
    house = house_with(tmp_path, edit, "SAY dev I have noted it.")
    house.say("I like tea")
    house.live(house.asleep)
    assert turns(house) == 2 and notices(house) == []


def test_what_was_invented_has_no_effect_and_the_agent_is_told(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    delivery = Delivery(house.me, house.config, house.hands)
    text = "SAY dev hi\n[#14 heard dev]\nSAY dev no"
    hash = house.me.blobs.stash(text, kind="response", gist=text, at=house.clock())
    delivery.act(hash, Answer(house.hands.parse("SAY dev hi").calls, "", "[#14 heard dev]\n…"))
    assert house.said("dev") == ["hi"] and not house.me.state.awake
    assert "only the harness writes lines that begin with [#" in house.me.context.entries[-1].body


def deliver(house: Household, *answers: str) -> None:
    """Turns with these answers as the loop takes them; the ones after a kill are missing."""
    inbox = Inbox(house.me, [], print)
    inbox.receive()
    for text in answers:
        if not house.me.state.awake:
            return
        delivery = Delivery(house.me, house.config, house.hands)
        hash = house.me.blobs.stash(text, kind="response", gist=text, at=house.clock())
        house.me.add("response", "now", text)
        house.me.log("response", text, hash)
        delivery.act(hash, house.hands.parse(text))
        house.me.commit()
        inbox.post_notices()
    inbox.receive()


def test_after_a_kill_at_any_instant_a_plain_answer_is_said_at_most_once_and_never_hidden(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path / "home")
    house.hear("dev", "ada", "hello")
    seen: set[tuple[int, bool]] = set()
    for _ in killed_everywhere(house, lambda: deliver(house, "Hello Ada!")):
        said = house.said("dev")
        told = "".join(bodies(house.me.context.entries, "notice"))
        assert len(said) <= 1
        if "You were stopped" in told:
            ran = "Ran: SAY dev." in told
            assert ran == bool(said) and house.me.state.awake
            assert bool(house.me.state.waiting()) != ran
        seen.add((len(said), "You were stopped" in told))
    assert seen == {(0, False), (0, True), (1, True), (1, False)}


def test_after_a_kill_at_any_instant_the_reminder_and_the_notice_come_once(tmp_path: Path) -> None:
    house = Household(tmp_path / "home")
    house.hear("dev", "ada", "hello")
    reminders: set[int] = set()
    for _ in killed_everywhere(house, lambda: deliver(house, "WAIT", "WAIT")):
        told = bodies(house.me.context.entries, "notice")
        reminders.add(sum("ada waits" in text for text in told))
        deliver(house, "WAIT", "WAIT", "WAIT")
        told = bodies(house.me.context.entries, "notice")
        assert sum("ada waits" in text for text in told) == 1
        assert house.said("dev", "NOTICE") == [NO_ANSWER]
        assert not house.me.state.awake and house.me.state.waiting() == []
    assert reminders == {0, 1}


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[House, Identity]]:
    """A house whose agent waits always, and another agent in its room."""
    house = house_with(tmp_path)
    yield house, Identity(tmp_path, boot(tmp_path, "otto", "dev", utc), utc)


def test_an_agent_that_is_not_addressed_may_wait_without_a_reminder(
    shared: tuple[House, Identity],
) -> None:
    house, other = shared
    house.say(f"{other.name}, what is the time?")
    house.live(lambda: turns(house) == 1 and house.asleep())
    assert house.lines("NOTICE") == [] and notices(house) == []


def test_an_agent_waits_without_a_reminder_once_another_one_has_answered(
    shared: tuple[House, Identity],
) -> None:
    house, other = shared
    house.say("what is the time?")
    house.say("It is noon.", "AGENT", other.name)
    house.live(lambda: turns(house) == 1 and house.asleep())
    assert house.lines("NOTICE") == [] and house.me.state.waiting() == []


def test_an_agent_that_is_addressed_is_reminded_although_another_one_has_answered(
    shared: tuple[House, Identity],
) -> None:
    house, other = shared
    house.say(f"{house.me.name}, what is the time?")
    house.say("It is noon.", "AGENT", other.name)
    house.live(lambda: turns(house) == 2 and house.asleep())
    assert house.lines("NOTICE") == [NO_ANSWER]


def test_one_reminder_names_everybody_who_waits(tmp_path: Path) -> None:
    house = house_with(tmp_path)
    house.say("hello")
    house.say("hello", name="bob")
    house.say("hello", name="cleo")
    house.live(house.asleep)
    assert notices(house)[0].startswith("ada, bob and cleo wait for your answer in dev.")
    assert house.lines("NOTICE") == [NO_ANSWER.replace("ada", "ada, bob and cleo")]
    assert turns(house) == 2
