"""The loop, driven in this process with a scripted model: turns, limits, commands, trouble with the
model.
"""

import itertools
import json
import time
from pathlib import Path

import pytest

from agent import Agent
from dory import check
from dory.config.settings import Config
from dory.constants import EXCHANGES, TURN_LIMIT
from dory.control import Control
from dory.errors import ModelAway, ModelError, ModelRefused, WindowExceeded
from dory.identity import state
from dory.llm.completions import Endpoint
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.process.signals import ShutdownSignal
from dory.text import references
from dory.turn.extension import Outcome, Tool
from dory.types import Blob, Call, Prompt, Reply, Usage
from tests.support.compacting import House, Scripted, kinds


def newest(prompt: Prompt) -> str:
    """The last entry of the context."""
    return prompt.text.partition("\n[#memory")[0].rpartition("\n[#")[2]


def echo(prompt: Prompt) -> str:
    """Say what was heard last."""
    return (
        f"SAY dev heard: {newest(prompt).partition('] ')[2].partition(chr(10))[0]}"
        if " heard " in newest(prompt)
        else "WAIT"
    )


def test_a_line_in_a_room_is_answered_there(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=echo))
    house.say("hello")
    house.live(lambda: house.lines("AGENT") == ["heard: hello"] and house.asleep())
    assert kinds(house.me.context.entries) == "1 notice, 2 heard, 3 response, 4 result"
    assert list(check.problems(tmp_path)) == []


def test_after_say_and_wait_the_agent_sleeps_and_after_any_other_call_it_goes_on(
    tmp_path: Path,
) -> None:
    answers = iter(
        ["I think.\nSAY dev one moment\nREAD_FILE MEMORY.md", "SAY dev it is empty\nWAIT"]
    )
    house = House(tmp_path, Scripted(turn=lambda prompt: next(answers)))
    house.say("what is in MEMORY?")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["one moment", "it is empty"]
    assert house.me.state.turn == 2


def test_a_failed_say_and_a_misspelt_tool_are_seen_in_a_further_turn(tmp_path: Path) -> None:
    answers = iter(["SAY nowhere hi", "READFILE MEMORY.md", "SAY dev no"])
    house = House(tmp_path, Scripted(turn=lambda prompt: next(answers)))
    house.say("go")
    house.live(house.asleep)
    errors = [entry.body for entry in house.me.context if entry.kind == "error"]
    assert "JOIN enters one" in errors[0] and "did you mean the tool READ_FILE" in errors[1]


def test_reasoning_stands_before_the_response_and_its_tool_lines_are_not_run(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted())

    def complete(prompt: Prompt, purpose: str, control: Control | None = None) -> Reply:
        return Reply(
            "SAY dev done",
            "SAY dev not this\nEDIT_FILE MEMORY.md",
            Usage("turn", "m", 1, None, 1, 0.0),
        )

    house.model.complete = complete  # type: ignore[method-assign]
    house.say("go")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["done"]
    response = next(entry for entry in house.me.context if entry.kind == "response")
    assert (
        response.body
        == "<reasoning>\nSAY dev not this\nEDIT_FILE MEMORY.md\n</reasoning>\nSAY dev done"
    )
    assert house.me.blobs.get(house.me.state.parent or "").body == references.unescape(
        response.body
    )


def test_a_response_is_on_disk_before_its_first_tool_runs_and_chained_to_the_one_before(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(turn=echo))
    seen: list[Blob] = []
    say = house.agent.tool_runner._tools["SAY"]

    def watched(call: Call) -> Outcome:
        on_disk = state.load(house.me.folder / "state.json")
        assert on_disk.running is not None
        seen.append(house.me.blobs.get(on_disk.running.response))
        return say.run(call)

    house.agent.tool_runner._tools["SAY"] = Tool(
        say.usage, watched, say.mark, say.acted, quiet=True
    )
    house.say("one")
    house.live(house.asleep)
    house.say("two")
    house.live(lambda: len(seen) == 2 and house.asleep())
    assert [blob.body for blob in seen] == ["SAY dev heard: one", "SAY dev heard: two"]
    assert seen[1].parent == seen[0].hash
    results = [house.me.blobs.get(path.stem) for path in house.me.blobs.walk()]
    assert {blob.parent for blob in results if blob.kind == "result"} == {
        seen[0].hash,
        seen[1].hash,
    }


def test_thirty_turns_in_a_row_are_enough(tmp_path: Path) -> None:
    house = House(
        tmp_path, Scripted(turn=lambda prompt: "READ_FILE MEMORY.md"), context_limit=100_000
    )
    house.say("loop")
    house.live(house.asleep)
    assert house.me.state.turn == TURN_LIMIT
    assert "you wait for one now" in house.me.context.entries[-1].body
    house.say("and again")
    house.live(lambda: house.me.state.turn == 2 * TURN_LIMIT and house.asleep())


def test_agents_alone_stop_after_four_exchanges_and_a_person_sets_them_going_again(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(turn=echo), context_limit=100_000)
    for number in range(EXCHANGES + 5):
        house.say(f"{house.me.name}, line {number}", "AGENT", "other")
        house.live(house.asleep)
    assert len(house.lines("AGENT")) == EXCHANGES + 5 + EXCHANGES
    assert sum("exchanges in dev with agents only" in entry.body for entry in house.me.context) == 1
    house.say("go on")
    house.live(lambda: house.lines("AGENT")[-1] == "heard: go on" and house.asleep())


def test_a_command_is_answered_while_the_model_thinks_and_never_heard_by_it(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=echo))
    house.model.released.clear()
    house.say("hello")

    said_before: list[str] = []

    def answered_then_release() -> bool:
        if house.model.asked and "/status" not in house.lines("USER"):
            house.say("/status")
        if house.lines("NOTICE") and not house.model.released.is_set():
            said_before.extend(house.lines("AGENT"))
            house.model.released.set()
        return bool(house.lines("AGENT")) and house.asleep()

    house.live(answered_then_release)
    assert said_before == []
    assert "turns: 0" in house.lines("NOTICE")[0]
    assert not any("/status" in entry.body for entry in house.me.context)
    house.wake()
    house.live(house.asleep)
    assert len(house.lines("NOTICE")) == 1, "answered once"


def test_every_command_answers_and_a_bad_one_says_what_to_do(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=echo))
    house.hear(29)
    house.compact()
    reference = next(entry for entry in house.me.context if entry.hash)
    asked = ["/help", "/status", "/context", f"/show {reference.hash}"]
    asked += [f"/uncompact {reference.hash}", "/undo-compaction"]
    bad = ["/show", "/show 123456", "/statsu", "/undo-compaction", "/compact now"]
    for line in [*asked, *bad]:
        house.say(line)
    house.live(lambda: len(house.lines("NOTICE")) == len(asked) + len(bad) and house.asleep())
    answers = house.lines("NOTICE")
    assert all(
        f"/{name}" in answers[0]
        for name in ("help", "status", "context", "show", "uncompact", "compact", "undo-compaction")
    )
    assert f"hash={reference.hash}" in answers[2] and f"#{reference.ids} compacted" in answers[2]
    assert "crate 2" in answers[3]
    assert "stands in the agent's context again" in answers[4]
    assert "stand in full again" in answers[5]
    assert answers[6:10] == [
        "something is missing: /show <hash>  the original behind a reference",
        "no blob begins with 123456: take a hash from a reference or from LIFE.md",
        "there is no /statsu; did you mean /status? (/help lists the commands)",
        "there is no compaction to take back",
    ]
    assert house.lines("AGENT") == [], "a line that begins with a slash is never for the model"
    assert list(check.problems(tmp_path)) == []


@pytest.mark.parametrize(
    "error", [ModelAway("nobody answers at home"), ModelRefused("the key was refused")]
)
def test_trouble_with_the_model_is_told_once_and_the_line_is_answered_afterwards(
    tmp_path: Path, error: ModelError
) -> None:
    broken = True

    def turn(prompt: Prompt) -> str:
        if broken:
            raise error
        return echo(prompt)

    house = House(tmp_path, Scripted(turn=turn))
    house.say("one")
    house.live(lambda: len(house.lines("NOTICE")) == 1)
    house.say("two")
    house.live(lambda: len(house.model.asked) == 2)
    assert house.lines("NOTICE") == [f"I cannot think now: {error}"]
    broken = False
    house.say("three")
    house.live(lambda: house.lines("AGENT") == ["heard: three"] and house.asleep())
    assert sum(entry.kind == "heard" for entry in house.me.context) == 3


def test_a_prompt_that_does_not_fit_the_window_is_folded_until_it_does(tmp_path: Path) -> None:
    def turn(prompt: Prompt) -> str:
        if len(prompt.text) > 15_000:
            raise WindowExceeded("too long")
        return echo(prompt)

    house = House(tmp_path, Scripted(turn=turn), context_limit=100_000)
    house.hear(60)
    before = [entry.text for entry in house.me.context]
    house.say("hello")
    house.live(lambda: house.lines("AGENT") == ["heard: hello"] and house.asleep())
    assert "not summarised" in house.me.context.entries[0].gist
    assert list(check.problems(tmp_path)) == []
    assert before[5] not in house.model.asked[-1][1].text


def test_a_heartbeat_wakes_an_agent_to_which_nothing_happens(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=lambda prompt: "WAIT"), heartbeat=1)
    house.agent.last_turn = time.monotonic() - 5
    house.live(lambda: house.me.state.turn == 1)
    assert any("Heartbeat" in entry.body for entry in house.me.context)


def test_every_call_is_recorded_with_its_purpose_and_its_cached_tokens(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    with Server(OfflineModel()) as server:
        config = Config(base_url=server.base_url, model="any", context_limit=1000)
        house.agent = Agent(
            house.me, config, Endpoint(config), verbose=False, stop=ShutdownSignal()
        )
        house.compaction = house.agent.compaction
        house.hear(29)
        house.say("hello there")
        house.live(lambda: house.me.state.last_compaction != "" and house.asleep())
    calls = [
        json.loads(line) for line in (house.me.folder / "usage.jsonl").read_text().splitlines()
    ]
    assert {call["purpose"] for call in calls} == {"turn", "segment", "summarise"}
    first = next(call for call in calls if call["purpose"] == "turn")
    assert first["prompt"] > 1000 and first["cached"] == 0
    for call in calls:
        if call["purpose"] == "summarise":
            assert call["cached"] > 0.9 * call["prompt"], (
                "compaction is served from the cache of the live prompt"
            )
    assert house.me.state.characters_per_token == pytest.approx(4, abs=0.1)


def test_within_an_epoch_each_prompt_before_its_tail_extends_the_one_before(tmp_path: Path) -> None:
    house = House(tmp_path, OfflineModel(), context_limit=1500)  # type: ignore[arg-type]
    sent: list[tuple[int, str]] = []
    build = house.agent.prompts.build

    def noted() -> Prompt:
        built = build()
        sent.append((house.me.state.epoch, built.text))
        return built

    house.agent.prompts.build = noted  # type: ignore[method-assign]
    talk = [
        "hello",
        "remember that my cat is called Miso",
        "what is my cat called?",
        "read MEMORY.md",
        "I like long walks",
        "who are you?",
    ]
    for number in range(30):
        house.say(f"{talk[number % len(talk)]}{' and so on' * (number % 4)}")
        house.live(house.asleep)
    assert len({epoch for epoch, _ in sent}) > 2
    for (epoch, before), (after_epoch, after) in itertools.pairwise(sent):
        if epoch == after_epoch:
            assert after.startswith(before[: before.index("\n[#memory") + 1])


def test_a_response_that_was_cut_does_not_act_on_its_last_call_and_is_told(tmp_path: Path) -> None:
    answers = iter(
        [("SAY dev first\nSAY dev the password is swordf", True), ("", True), ("WAIT", False)]
    )
    house = House(tmp_path, Scripted())

    def complete(prompt: Prompt, purpose: str, control: Control | None = None) -> Reply:
        text, cut = next(answers)
        return Reply(text, "", Usage("turn", "m", 1, None, 1, 0.0), cut)

    house.model.complete = complete  # type: ignore[method-assign]
    house.say("go")
    house.live(house.asleep)
    assert house.lines("AGENT") == ["first"]
    assert house.me.state.turn == 3
    assert sum("cut off at its length limit" in entry.body for entry in house.me.context) == 2


def test_a_line_without_a_tag_is_answered_by_how_to_write_one(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=echo))
    with open(house.me.rooms.path("dev"), "a") as room:
        room.write("hello there\n")
    house.live(lambda: len(house.lines("NOTICE")) == 1)
    assert (
        "a line without a tag was not heard: hello there; write [USER:name "
        in house.lines("NOTICE")[0]
    )


def test_a_room_whose_file_was_replaced_by_a_shorter_one_is_heard_again(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=echo))
    house.say("a first line that is long enough to be longer than the next")
    house.live(house.asleep)
    house.me.rooms.path("dev").unlink()
    house.say("second")
    house.live(lambda: house.lines("AGENT") == ["heard: second"] and house.asleep())
    assert any("room dev was edited or exchanged" in entry.body for entry in house.me.context)


def test_commands_from_before_its_time_are_not_run_by_a_new_agent(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=echo))
    house.me.rooms.say("lab", "USER", "ada", "/status", house.me.now())
    house.me.rooms.say("lab", "USER", "ada", "hello", house.me.now())
    house.me.join("lab")
    house.live(lambda: any("hello" in entry.body for entry in house.me.context) and house.asleep())
    notices = [line.text for line in house.me.rooms.read("lab", 0) if line.kind == "NOTICE"]
    assert not any("turns:" in text for text in notices)
