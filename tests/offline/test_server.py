"""The served model as its clients see it, through the real client and through plain HTTP."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from dory.control import Control
from dory.errors import ModelAway, ModelError, ModelRefused, WindowExceeded
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.process.jobs import Job
from dory.types import Message, Prompt, Purpose, Reply
from tests.support.wire import ANSWER, Caller, Fish, prompt

ROOT = Path(__file__).parents[2]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(Fish()) as server:
        yield server


def post(url: str, body: object) -> Any:
    """What comes back as JSON, whatever the status."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urlopen(Request(url, content, {"Content-Type": "application/json"})) as response:
            return json.load(response)
    except HTTPError as error:
        with error:
            return {"status": error.code, **json.load(error)}


def ask(server: Server, **more: object) -> Any:
    return post(
        f"{server.base_url}/chat/completions",
        {"model": "any", "messages": [{"role": "user", "content": "hello"}], **more},
    )


def test_a_whole_answer_has_the_form_of_openai(server: Server) -> None:
    answer = ask(server)
    choice = answer["choices"][0]
    assert choice["message"] == {
        "role": "assistant",
        "content": ANSWER,
        "reasoning_content": "a turn is wanted",
    }
    assert (answer["object"], answer["model"], choice["finish_reason"]) == (
        "chat.completion",
        "fish",
        "stop",
    )
    assert answer["usage"] == {
        "prompt_tokens": 2,
        "completion_tokens": 15,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 0},
        "prompt_cache_hit_tokens": 0,
        "prompt_cache_miss_tokens": 2,
    }


def test_a_stream_comes_in_pieces_and_ends_with_usage_when_it_is_asked_for(server: Server) -> None:
    body = {
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    with urlopen(f"{server.base_url}/chat/completions", json.dumps(body).encode()) as response:
        lines = [line.decode().removeprefix("data: ").strip() for line in response if line.strip()]
    chunks = [json.loads(line) for line in lines[:-1]]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert lines[-1] == "[DONE]"
    assert len(chunks) > 5
    assert "".join(delta.get("content", "") for delta in deltas) == ANSWER
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["prompt_tokens"] == 2


def test_the_model_is_listed(server: Server) -> None:
    with urlopen(f"{server.base_url}/models") as response:
        assert [model["id"] for model in json.load(response)["data"]] == ["fish"]


def test_what_is_not_there_is_not_found(server: Server) -> None:
    assert post(f"{server.base_url}/nothing", {})["status"] == 404
    with pytest.raises(HTTPError, match="404") as raised:
        urlopen(f"{server.base_url}/nothing")
    raised.value.close()


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        [],
        {},
        {"messages": []},
        {"messages": ["hello"]},
        {"messages": [{"role": "user", "content": 5}]},
    ],
)
def test_a_request_that_cannot_be_read_is_refused(server: Server, body: object) -> None:
    answer = post(f"{server.base_url}/chat/completions", body)
    assert (answer["status"], answer["error"]["type"]) == (400, "invalid_request_error")
    assert not server.requests


def test_a_prompt_is_cached_as_far_as_it_begins_like_an_earlier_one(server: Server) -> None:
    caller = Caller(server.base_url)
    story = "".join(f"{number} fish, " for number in range(200))
    cached = [
        caller.ask(*contents).usage.cached
        for contents in (
            [story],
            [story],
            [story + "and more"],
            ["X" + story],
            ["Y" * 255],
            ["Y" * 256],
        )
    ]
    whole = len(story) // 256 * 64
    assert cached == [0, whole, whole, 0, 0, 0]
    assert caller.ask("Y" * 256).usage.cached == 64
    assert caller.ask(story[:300], story[300:]).usage.cached == 64, (
        "the same text cut into other messages begins alike only up to the cut"
    )
    assert [request.cached for request in server.requests][1:3] == [whole, whole]


@pytest.mark.parametrize(
    ("contents", "purpose"),
    [
        (("hello",), "turn"),
        (("hello", "a long context\n\n[#segment 3-19]\nName the chunks"), "segment"),
        (("[#summarise 3-9]\nWrite",), "summarise"),
        (("[#segment 1-2]", "hello"), "turn"),
        (("\\[#segment 1-2]\nsaid [#summarise 1-2]",), "turn"),
        (("[#segments 1-2]",), "turn"),
        (("[#segment 1-2]\nName them.\n[#summarise 1-2]",), "summarise"),
    ],
)
def test_the_purpose_of_a_prompt_stands_in_its_last_message(
    server: Server, contents: tuple[str, ...], purpose: Purpose
) -> None:
    assert Caller(server.base_url).ask(*contents).reasoning == f"a {purpose} is wanted"
    assert server.requests[0].purpose == purpose
    assert server.requests[0].messages == tuple(Message("user", content) for content in contents)


@pytest.mark.parametrize(
    "error", [ModelRefused("no such fish"), WindowExceeded("too wide"), ModelAway("it swims")]
)
def test_the_errors_of_the_model_reach_the_client(error: ModelError) -> None:
    class Sick(Fish):
        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            raise error

    with Server(Sick()) as server, pytest.raises(type(error), match=str(error)):
        Caller(server.base_url, retries=0).ask()


def test_a_fault_is_suffered_once_and_a_refused_prompt_is_not_cached(server: Server) -> None:
    server.faults.append(Fault(status=503, body="busy", headers={"Retry-After": "0"}))
    caller = Caller(server.base_url)
    reply = caller.ask("x" * 1000)
    assert (reply.text, reply.usage.cached, len(server.requests), caller.waits) == (
        ANSWER,
        0,
        1,
        [0],
    )


def test_faults_can_be_queued_over_http(server: Server) -> None:
    place = f"http://127.0.0.1:{server.server_port}/faults"
    assert post(place, [{"text": "something else"}, {"finish": "length"}]) == {"queued": 2}
    assert ask(server)["choices"][0]["message"] == {
        "role": "assistant",
        "content": "something else",
    }
    assert ask(server)["choices"][0]["finish_reason"] == "length"
    assert ask(server)["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("faults", [[{"colour": "red"}], 5, [[1]]])
def test_a_fault_that_is_not_known_is_refused(server: Server, faults: object) -> None:
    assert post(f"http://127.0.0.1:{server.server_port}/faults", faults)["status"] == 400
    assert not server.faults


def test_closing_the_server_ends_a_silence() -> None:
    with Server(Fish()) as server:
        server.faults.append(Fault(delay=600))
        waiting = Job(lambda: Caller(server.base_url, retries=0, timeout=60).ask(), "caller")
        while server.faults:
            waiting.wait(0.01)
    with pytest.raises(ModelAway, match="broke off the connection"):
        waiting.result()


def served(*options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dory.offline", *options]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_the_stand_in_is_served_from_the_command_line_until_ctrl_c() -> None:
    with served("--port", "0") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = line.partition(" at ")[2].partition(";")[0]
        assert f"--base-url {url} --model " in line
        assert Caller(url).endpoint.complete(prompt("hello"), "turn").usage.prompt == 2
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest, errors) == (0, "", "")


def test_a_taken_port_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with served("--port", port) as process:
            out, errors = process.communicate(timeout=20)
    assert (process.returncode, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"port {port} cannot be had")
    with served("--port", "abc") as process:
        out, errors = process.communicate(timeout=20)
    assert (process.returncode, out, errors.count("\n")) == (2, "", 1)
