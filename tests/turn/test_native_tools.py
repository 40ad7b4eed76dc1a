"""An agent whose model calls tools as functions, over loopback HTTP with the real client."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent import Agent
from dory import check
from dory.clock import utc
from dory.config.profiles import Profile, Profiles
from dory.config.settings import Config
from dory.control import Control
from dory.identity.identity import Identity
from dory.llm.completions import Endpoint
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.process.signals import ShutdownSignal
from dory.types import Prompt, Purpose, Reply, Usage
from tests.support import wire
from tests.support.compacting import House, Scripted
from tests.support.wire import http, piece, stream


def awake(home: Path, base_url: str, **settings: object) -> House:
    """A house whose agent asks the endpoint."""
    wire.load_client()
    house = House(home, Scripted(), context_limit=8000)
    given = {"retries": 0, "tools": "native", "timeout": 5.0, "context_limit": 8000, **settings}
    config = Config(base_url=base_url, model="fish", api_key="k", **given)  # type: ignore[arg-type]
    house.config = config
    house.agent = Agent(house.me, config, Endpoint(config), verbose=False, stop=ShutdownSignal())
    house.compaction = house.agent.compaction
    return house


def calls(*made: tuple[str, object], text: str = "", start: int = 0) -> bytes:
    """A streamed answer with these calls."""
    chunks = [piece(content=text)] if text else []
    for number, (name, given) in enumerate(made):
        arguments = given if isinstance(given, str) else json.dumps(given)
        function = {"name": name, "arguments": arguments}
        chunks.append(
            piece(tool_calls=[{"index": number, "id": f"id{start + number}", "function": function}])
        )
    return stream(*chunks, piece("tool_calls" if made else "stop"))


def say(text: str, room: str = "dev") -> tuple[str, object]:
    return "SAY", {"room": room, "message": text}


def said(house: House, *texts: str) -> Callable[[], bool]:
    return lambda: house.lines("AGENT") == list(texts) and house.asleep()


def offers(server: wire.Scripted) -> list[str]:
    return [json.dumps(body.get("tools")) for body in server.bodies]


def command(house: House, text: str) -> str:
    """The answer to a person's command."""
    before = len(house.lines("NOTICE"))
    house.say(text)
    house.live(lambda: len(house.lines("NOTICE")) > before)
    return house.lines("NOTICE")[-1]


def test_native_calls_become_the_lines_of_the_record_and_run_in_order(tmp_path: Path) -> None:
    edit = {"path": "MEMORY.md", "edits": [{"search": "", "replace": "Ada likes tea."}]}
    answer = calls(("EDIT_FILE", edit), ("READ_FILE", {"path": "MEMORY.md"}), say("noted"))
    with wire.Scripted(answer, calls(("WAIT", {}))) as server:
        house = awake(tmp_path, server.base_url)
        house.say("remember that I like tea")
        house.live(said(house, "noted"))
    response = next(entry for entry in house.me.context if entry.kind == "response")
    assert response.body.splitlines()[0] == "EDIT_FILE MEMORY.md"
    assert response.body.splitlines()[-2:] == ["READ_FILE MEMORY.md", "SAY dev noted"]
    [hash] = [ref for kind, ref in _life(house) if kind == "response"][:1]
    assert house.me.blobs.get(hash).body == response.body
    results = [e.about.split()[0] for e in house.me.context if e.kind == "result"]
    assert results[:3] == ["EDIT_FILE", "READ_FILE", "SAY"]
    assert "Ada likes tea." in next(e.body for e in house.me.context if e.about[:4] == "READ")
    assert list(check.problems(tmp_path)) == []


def _life(house: House) -> list[tuple[str, str]]:
    lines = (house.me.folder / "LIFE.md").read_text().splitlines()
    parts = [line.split(" ", 3) for line in lines if "◱hash=" in line]
    return [(part[2], part[3].partition("◱hash=")[2].split()[0]) for part in parts]


@pytest.mark.parametrize("layout", ["tail", "ledger"])
def test_the_schemas_are_the_same_bytes_in_an_epoch_and_the_prefix_only_grows(
    tmp_path: Path, layout: str
) -> None:
    answers = [calls(say(f"answer {number}"), start=number) for number in range(3)]
    with wire.Scripted(*answers) as server:
        house = awake(tmp_path, server.base_url, layout=layout)
        for number in range(3):
            house.say(f"question {number}")
            house.live(said(house, *(f"answer {n}" for n in range(number + 1))))
        assert len(set(offers(server))) == 1 and '"SAY"' in offers(server)[0]
        systems = {body["messages"][0]["content"] for body in server.bodies}
        assert len(systems) == 1 and "Tool lines:" not in systems.pop()
        if layout == "ledger":
            for before, after in zip(server.bodies, server.bodies[1:], strict=False):
                assert after["messages"][: len(before["messages"])] == before["messages"]


def test_in_a_ledger_each_call_is_answered_with_its_id(tmp_path: Path) -> None:
    first = calls(
        ("READ_FILE", {"path": "nowhere.md"}),
        ("FLY", {"to": "the moon"}),
        ("WAIT", {}),
        ("READ_FILE", '{"path": "MEM'),
        text="Let me look.",
    )
    with wire.Scripted(first, calls(say("done"))) as server:
        house = awake(tmp_path, server.base_url, layout="ledger")
        house.say("look around")
        house.live(said(house, "done"))
        messages = server.bodies[1]["messages"]
    roles = [message["role"] for message in messages]
    assert roles[-6:] == ["assistant", "tool", "tool", "tool", "tool", "user"]
    assistant, *tools, user = messages[-6:]
    assert assistant["content"] == "Let me look."
    assert [tool["tool_call_id"] for tool in tools] == [f"id{number}" for number in range(4)]
    assert [call["id"] for call in assistant["tool_calls"]] == [
        f"id{number}" for number in range(4)
    ]
    contents = [tool["content"] for tool in tools]
    assert "error READ_FILE" in contents[0] and "there is no tool FLY" in contents[1]
    assert "done" in contents[2] and "are no JSON" in contents[3]
    assert all(content not in user["content"] for content in contents)
    assert "response" in user["content"].splitlines()[0]


def test_in_a_tail_the_results_stand_in_the_context_alone(tmp_path: Path) -> None:
    with wire.Scripted(calls(("READ_FILE", {"path": "MEMORY.md"})), calls(say("done"))) as server:
        house = awake(tmp_path, server.base_url, layout="tail")
        house.say("look around")
        house.live(said(house, "done"))
        assert [message["role"] for message in server.bodies[1]["messages"]] == ["system", "user"]
        assert "result READ_FILE MEMORY.md]" in server.bodies[1]["messages"][1]["content"]


def test_ids_that_come_again_are_told_apart(tmp_path: Path) -> None:
    answers = [calls(("READ_FILE", {"path": "MEMORY.md"})) for _ in range(2)]
    with wire.Scripted(*answers, calls(say("done"))) as server:
        house = awake(tmp_path, server.base_url, layout="ledger")
        house.say("look twice")
        house.live(said(house, "done"))
        last = server.bodies[2]["messages"]
    asked = [call["id"] for m in last for call in m.get("tool_calls", [])]
    assert len(set(asked)) == len(asked) == 2
    assert [m["tool_call_id"] for m in last if m["role"] == "tool"] == asked


def test_the_argument_of_a_hidden_tool_goes_back_masked(tmp_path: Path) -> None:
    belief = ("ADD_TO_SOUL", {"text": "I cherish quiet mornings"})
    with wire.Scripted(calls(belief), calls(belief, start=1), calls(say("done"))) as server:
        house = awake(tmp_path, server.base_url, layout="ledger")
        house.say("believe something")
        house.live(said(house, "done"))
        # the first one changed the soul, and with it the system message
        spoken = json.dumps(server.bodies[2]["messages"][2:])
    assert "kept there alone" in spoken and "quiet mornings" not in spoken
    assert "quiet mornings" not in house.me.context.text


def test_more_calls_than_a_response_may_have_are_all_answered(tmp_path: Path) -> None:
    many = calls(*[("READ_FILE", {"path": "MEMORY.md"})] * 103)
    with wire.Scripted(many, calls(say("done"), start=200)) as server:
        house = awake(tmp_path, server.base_url, layout="ledger")
        house.say("read it often")
        house.live(said(house, "done"))
        last = server.bodies[1]["messages"]
    tools = [message for message in last if message["role"] == "tool"]
    assert len(tools) == 103
    assert "may have 100 tool lines" in tools[100]["content"] and "not run" in tools[102]["content"]


REFUSAL = http(400, json.dumps({"error": {"message": "fish does not support tools"}}).encode())


def owner(server: wire.Scripted, name: str) -> None:
    """Let the server say what it is."""
    server.told = http(200, json.dumps({"data": [{"id": "fish", "owned_by": name}]}).encode())


def plain(text: str) -> bytes:
    return stream(piece(content=text), piece("stop"))


def test_auto_goes_without_functions_for_good_after_they_were_refused(tmp_path: Path) -> None:
    with wire.Scripted(REFUSAL, plain("SAY dev hello"), plain("SAY dev again")) as server:
        owner(server, "library")
        house = awake(tmp_path, server.base_url, tools="auto")
        house.say("hi")
        house.live(said(house, "hello"))
        offered = [offer != "null" for offer in offers(server)]
        assert offered == [True, False]
        assert "Tool lines:" in server.bodies[1]["messages"][0]["content"]
        shown = command(house, "/status")
        assert "tools: lines, for good: the endpoint refused functions" in shown
        assert "does not support tools" in shown
        house.wake()
        house.agent = awake_again(house)
        house.say("hi again")
        house.live(said(house, "hello", "again"))
        assert [offer != "null" for offer in offers(server)] == [True, False, False]
    assert not any("cannot think" in notice for notice in house.lines("NOTICE"))


def awake_again(house: House) -> Agent:
    """The agent of a new process with the same settings."""
    config = house.config
    return Agent(house.me, config, Endpoint(config), verbose=False, stop=ShutdownSignal())


def test_auto_goes_without_functions_for_good_after_a_call_in_the_text(tmp_path: Path) -> None:
    with wire.Scripted(plain("SAY dev hello"), plain("SAY dev again")) as server:
        owner(server, "vllm")
        house = awake(tmp_path, server.base_url, tools="auto")
        house.say("hi")
        house.live(said(house, "hello"))  # it ran all the same
        assert "tools: lines, for good: it wrote SAY into its text" in command(house, "/status")
        house.say("hi again")
        house.live(said(house, "hello", "again"))
        assert [offer != "null" for offer in offers(server)] == [True, False]
        kept = json.loads((house.me.folder / "state.json").read_text())["tools_refused"]
        assert list(kept) == [f"fish {server.base_url}"]


def test_a_plain_answer_is_no_call_in_the_text(tmp_path: Path) -> None:
    with wire.Scripted(plain("Hello, Ada.")) as server:
        owner(server, "vllm")
        house = awake(tmp_path, server.base_url, tools="auto")
        house.say("hi")
        house.live(said(house, "Hello, Ada."))
        assert "tools: native, as vLLM documents" in command(house, "/status")


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("nobody", {}, "lines, nobody documents functions for this endpoint"),
        ("llamacpp", {}, "lines, the server takes functions or a grammar, not both"),
        ("library", {"prompt": "lean"}, "lines, the prompt is lean"),
        ("library", {"tools": "lines"}, "lines, as set"),
        ("nobody", {"tools": "native"}, "native, as set"),
    ],
)
def test_status_says_which_way_and_why(
    tmp_path: Path, name: str, settings: dict[str, Any], why: str
) -> None:
    with wire.Scripted(plain("SAY dev hello")) as server:
        owner(server, name)
        house = awake(tmp_path, server.base_url, **{"tools": "auto", **settings})
        assert f"tools: {why}" in command(house, "/status")
        house.say("hi")
        house.live(said(house, "hello"))
        assert (offers(server) != ["null"]) == why.startswith("native")


def test_what_was_set_is_not_changed_by_a_refusal_and_people_learn_the_way_out(
    tmp_path: Path,
) -> None:
    with wire.Scripted(REFUSAL) as server:
        house = awake(tmp_path, server.base_url, tools="native")
        house.say("hi")
        house.live(lambda: bool(house.lines("NOTICE")))
    [notice] = house.lines("NOTICE")
    assert "does not support tools" in notice and "tools: lines" in notice
    assert house.me.state.tools_refused == {}


def test_another_model_chosen_by_a_person_is_asked_in_its_own_way(tmp_path: Path) -> None:
    with wire.Scripted(calls(say("one"))) as first, wire.Scripted(plain("SAY dev two")) as second:
        owner(first, "vllm")
        owner(second, "nobody")
        house = awake(tmp_path, first.base_url, tools="auto", layout="ledger")
        house.say("hi")
        house.live(said(house, "one"))
        epoch = house.me.state.epoch
        command(house, f"/model other {second.base_url}")
        house.say("hi again")
        house.live(said(house, "one", "two"))
        assert offers(second) == ["null"] and house.me.state.epoch > epoch
        assert "tool_calls" not in json.dumps(second.bodies[0]["messages"])


def test_a_server_that_dies_within_a_call_runs_nothing_and_is_asked_again(tmp_path: Path) -> None:
    half = json.dumps({"room": "dev", "message": "half a message"})[:30]
    dying = calls(say("whole"), ("SAY", half)).partition(b'data: {"choices": [{"index": 0, "delta"')
    body = b"".join(dying).rpartition(b"\n\ndata: {")[0].replace(b'tool_calls"}]}\n', b"")
    with wire.Scripted(body[:-60], calls(say("whole"))) as server:
        house = awake(tmp_path, server.base_url, retries=1)
        house.say("hi")
        house.live(said(house, "whole"))
        assert len(server.bodies) == 2


class Killed(BaseException):
    """The process ends here."""


def test_a_kill_between_two_calls_tells_which_ran_and_repeats_none(tmp_path: Path) -> None:
    answer = calls(say("one"), ("JOIN", {"room": "lab"}), say("three"))
    with wire.Scripted(answer, calls(("WAIT", {}))) as server:
        house = awake(tmp_path, server.base_url)
        house.say("hi")
        commit, marks = house.me.commit, []

        def dying() -> None:
            commit()
            if running := house.me.state.running:
                marks.append(running.done)
                if running.done == 1:
                    raise Killed

        house.me.commit = dying  # type: ignore[method-assign]
        with pytest.raises(Killed):
            house.live(lambda: False)
        assert marks == [0, 1]  # each call is marked before it runs
        house.me = Identity(tmp_path, house.hash, utc)
        house.me.begin()
        house.agent = awake_again(house)
        house.live(lambda: house.asleep() and house.me.state.turn == 2)
    [told] = [e.body for e in house.me.context if "You were stopped" in e.body]
    assert "Ran: SAY dev one." in told
    assert "Did not run, and had no effect: JOIN lab; SAY dev three." in told
    assert house.lines("AGENT") == ["one"]


def test_a_profile_says_how_its_model_calls_tools(tmp_path: Path) -> None:
    with wire.Scripted(plain("SAY dev one")) as first, wire.Scripted(calls(say("two"))) as second:
        profile = Profile("other", second.base_url, tools="native")
        profiles = Profiles((("fast", profile),))
        house = awake(tmp_path, first.base_url, tools="auto", profiles=profiles)
        (tmp_path / "dory.yaml").write_text(f"profiles: {profiles}\n")
        house.say("hi")
        house.live(said(house, "one"))
        command(house, "/model fast")
        house.say("hi again")
        house.live(said(house, "one", "two"))
        assert "tools: native, as set" in command(house, "/status")
    assert "tools: native" in (house.me.folder / "settings.yaml").read_text()


def test_a_compaction_forks_the_prompt_with_the_same_functions(tmp_path: Path) -> None:
    class Answering(OfflineModel):
        name = "fish"

        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            if purpose == "turn":
                return Reply("SAY dev ok", "", Usage(purpose, self.name, 0, None, 0, 0.0))
            return super().complete(prompt, purpose, control)

    asked: list[tuple[str, Sequence[object]]] = []

    class Noting(Server):
        def received(self, prompt: Prompt) -> Any:
            request = super().received(prompt)
            asked.append((request.purpose, prompt.messages))
            return request

    with Noting(Answering()) as server:
        house = awake(tmp_path, server.base_url, context_limit=1500)
        house.hear(40)
        house.say("hi")
        house.live(lambda: house.me.state.last_compaction != "" and house.asleep())
    assert {"turn", "segment", "summarise"} <= {purpose for purpose, _ in asked}
    assert list(check.problems(tmp_path)) == []
    usage = (house.me.folder / "usage.jsonl").read_text().splitlines()
    forks = [json.loads(line) for line in usage if '"summarise"' in line]
    assert all(fork["cached"] > 0.8 * fork["prompt"] for fork in forks)
