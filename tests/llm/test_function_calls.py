"""Native calls at the wire: what is sent to each provider, and what is read from its answers."""

import json
from dataclasses import replace
from typing import Any

import pytest

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.control import Control
from dory.errors import FunctionsRefused, ModelAway
from dory.llm import function_calls
from dory.llm.completions import Endpoint
from dory.llm.function_calls import PROVIDERS, UNKNOWN
from dory.text.answers import saying
from dory.text.native_calls import function
from dory.types import Message, Prompt, Reply
from tests.support.wire import Scripted, http, load_client, piece, stream

TOOLS = ("SAY <room> <message>", "ADD_TO_SOUL <text>", "WAIT")
FUNCTIONS = tuple(map(function, TOOLS))
ASKED = Prompt((Message("system", "you"), Message("user", "hello")), FUNCTIONS)
DONE = stream(piece(content="done"), piece("stop"))


def called(*calls: tuple[str, object], **more: Any) -> dict[str, Any]:
    """A chunk with whole calls."""
    listed = [
        {
            "index": number,
            "id": f"id{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(calls)
    ]
    return piece("tool_calls", tool_calls=listed, **more)


def ask(server: Scripted, prompt: Prompt = ASKED, control: Control | None = None) -> Reply:
    load_client()
    config = Config(model="fish", base_url=server.base_url, api_key="k", timeout=5)
    return Endpoint(config).complete(prompt, "turn", control)


def answered(prompt: Prompt, reply: Reply, *results: str) -> Prompt:
    """The prompt after the calls of a reply have run."""
    assert reply.native
    tools = [
        Message("tool", result, call=call.id)
        for call, result in zip(reply.native.calls, results, strict=True)
    ]
    said = Message("assistant", reply.text, reply.native)
    return replace(prompt, messages=(*prompt.messages, said, *tools, Message("user", "go on")))


def owned(name: str) -> bytes:
    """A list of models whose owner is ``name``."""
    return http(200, json.dumps({"data": [{"id": "fish", "owned_by": name}]}).encode())


def conversation(owner: str, *chunks: object) -> tuple[Reply, dict[str, Any]]:
    """An answer of a server that names this owner, and the request that follows its calls."""
    load_client()
    with Scripted(stream(*chunks), DONE) as server:
        server.told = owned(owner)
        endpoint = Endpoint(Config(model="fish", base_url=server.base_url, api_key="k", timeout=5))
        reply = endpoint.complete(ASKED, "turn")
        assert reply.native
        results = [f"[#{number} result]\n" for number, _ in enumerate(reply.native.calls)]
        endpoint.complete(answered(ASKED, reply, *results), "turn")
        return reply, server.bodies[1]


def test_the_tools_are_offered_and_the_calls_become_their_lines() -> None:
    chunks = called(("SAY", {"room": "dev", "message": "hi\nyou"}), ("WAIT", {}), content="Well.")
    with Scripted(stream(chunks)) as server:
        reply = ask(server)
        [body] = server.bodies
    assert [tool["function"]["name"] for tool in body["tools"]] == ["SAY", "ADD_TO_SOUL", "WAIT"]
    assert "tool_choice" not in body and "parallel_tool_calls" not in body
    assert reply.text == "Well.\nSAY dev <<END\nhi\nyou\nEND\nWAIT"
    assert reply.native and [call.id for call in reply.native.calls] == ["id0", "id1"]


def test_the_offer_is_the_same_bytes_in_each_request() -> None:
    with Scripted(DONE) as server:
        load_client()
        endpoint = Endpoint(Config(model="fish", base_url=server.base_url, api_key="k"))
        for _ in range(2):
            endpoint.complete(ASKED, "turn")
        endpoint.complete(ASKED.fork("[#segment] cut it"), "segment")
        offers = [json.dumps(body["tools"]) for body in server.bodies]
    assert len(set(offers)) == 1


def test_deltas_of_several_calls_are_put_together_by_their_index() -> None:
    def delta(index: int, **function: str) -> dict[str, Any]:
        id = {"id": f"id{index}"} if "name" in function else {}
        return piece(tool_calls=[{"index": index, **id, "function": function}])

    chunks = [
        delta(0, name="SAY", arguments=""),
        delta(1, name="ADD_TO_SOUL", arguments='{"te'),
        delta(0, arguments='{"room": "dev", '),
        delta(1, arguments='xt": "I am"}'),
        delta(0, arguments='"message": "hi"}'),
        piece("tool_calls"),
    ]
    with Scripted(stream(*chunks)) as server:
        assert ask(server).text == "SAY dev hi\nADD_TO_SOUL I am"


def test_whole_calls_with_one_index_and_different_ids_stay_apart() -> None:
    """As Gemini streams them."""
    chunks = [
        piece(
            tool_calls=[
                {
                    "index": 0,
                    "id": f"g{number}",
                    "function": {"name": "ADD_TO_SOUL", "arguments": json.dumps({"text": text})},
                }
            ]
        )
        for number, text in enumerate(("one", "two"))
    ]
    with Scripted(stream(*chunks, piece("stop"))) as server:
        assert ask(server).text == "ADD_TO_SOUL one\nADD_TO_SOUL two"


def test_an_answer_in_one_piece_is_read_like_a_stream() -> None:
    message = called(("WAIT", {}))["choices"][0]["delta"]
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    with Scripted(http(200, json.dumps(whole).encode())) as server:
        assert ask(server).text == "WAIT"


def test_a_message_can_be_followed_while_its_call_is_streamed() -> None:
    class Following(Control):
        def __init__(self) -> None:
            super().__init__()
            self.seen: set[str] = set()

        def check(self) -> None:
            super().check()
            if message := saying(self.text, TOOLS, ["dev"]):
                self.seen.add(message[1])

    message = "a long and winding message that goes on for a while, word by word by word"
    arguments = json.dumps({"room": "dev", "message": message})
    first = {"index": 0, "id": "a", "function": {"name": "SAY", "arguments": ""}}
    parts = [
        piece(tool_calls=[{"index": 0, "function": {"arguments": arguments[at : at + 4]}}])
        for at in range(0, len(arguments), 4)
    ]
    control = Following()
    with Scripted(stream(piece(tool_calls=[first]), *parts, piece("tool_calls"))) as server:
        ask(server, control=control)
    assert control.seen and all(message.startswith(text) for text in control.seen)


def test_results_go_back_with_the_ids_of_their_calls() -> None:
    _, body = conversation("nobody", called(("WAIT", {}), ("FLY", "{half")))
    assistant, first, second, user = body["messages"][2:]
    assert assistant["role"] == "assistant" and assistant["content"] is None
    assert [call["id"] for call in assistant["tool_calls"]] == ["id0", "id1"]
    assert [call["function"] for call in assistant["tool_calls"]] == [
        {"name": "WAIT", "arguments": "{}"},
        {"name": "FLY", "arguments": "{}"},  # what is no JSON would be refused
    ]
    assert first == {"role": "tool", "content": "[#0 result]\n", "tool_call_id": "id0"}
    assert second["tool_call_id"] == "id1" and user["role"] == "user"


def test_deepseek_gets_the_reasoning_of_its_calls_back_also_an_empty_one() -> None:
    known = next(known for known in PROVIDERS if known.name == "DeepSeek")
    for reasoning in ("because", ""):
        delta = {"reasoning_content": reasoning} if reasoning else {}
        with Scripted(stream(piece(**delta), called(("WAIT", {})))) as server:
            reply = ask(server)
            origin = function_calls.source(Profile("fish", server.base_url))
        sent = answered(ASKED, reply, "done").messages
        message = function_calls.messages(sent, origin, known)[2]
        assert message["reasoning_content"] == reasoning
        assert "reasoning" not in message


def test_openrouter_gets_its_details_back_in_their_order_with_their_pieces_joined() -> None:
    known = next(known for known in PROVIDERS if known.name == "OpenRouter")
    details = [
        {"type": "reasoning.text", "index": 0, "text": "first ", "signature": None},
        {"type": "reasoning.text", "index": 0, "text": "second", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "xyz", "id": "r"},
    ]
    chunks = [piece(reasoning_details=[detail]) for detail in details]
    with Scripted(stream(*chunks, called(("WAIT", {})))) as server:
        reply = ask(server)
        origin = function_calls.source(Profile("fish", server.base_url))
    message = function_calls.messages(answered(ASKED, reply, "done").messages, origin, known)[2]
    assert message["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "first second", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "xyz", "id": "r"},
    ]


def test_gemini_gets_the_signature_back_beside_its_call() -> None:
    known = next(known for known in PROVIDERS if known.name == "Gemini")
    signed = {"google": {"thought_signature": "abc"}}
    call = {"index": 0, "id": "g", "function": {"name": "WAIT", "arguments": "{}"}}
    with Scripted(stream(piece("stop", tool_calls=[{**call, "extra_content": signed}]))) as server:
        reply = ask(server)
        origin = function_calls.source(Profile("fish", server.base_url))
    sent = answered(ASKED, reply, "done").messages
    assert function_calls.messages(sent, origin, known)[2]["tool_calls"][0]["extra_content"] == (
        signed
    )
    assert "extra_content" not in str(function_calls.messages(sent, origin, UNKNOWN))


@pytest.mark.parametrize(("owner", "field"), [("vllm", "reasoning"), ("library", "reasoning")])
def test_a_local_server_gets_its_reasoning_back_under_its_own_name(owner: str, field: str) -> None:
    _, body = conversation(owner, piece(**{field: "because"}), called(("WAIT", {})))
    assert body["messages"][2][field] == "because"
    assert "parallel_tool_calls" not in body


def test_llama_cpp_is_asked_for_several_calls_at_once() -> None:
    _, body = conversation("llamacpp", piece(reasoning_content="so"), called(("WAIT", {})))
    assert body["parallel_tool_calls"] is True
    assert body["messages"][2]["reasoning_content"] == "so"


def test_an_unknown_endpoint_gets_nothing_that_openai_does_not_document() -> None:
    _, body = conversation("nobody", piece(reasoning="so"), called(("WAIT", {})))
    assert set(body["messages"][2]) == {"role", "content", "tool_calls"}


def test_another_model_reads_native_calls_as_the_lines_of_the_record() -> None:
    with Scripted(stream(called(("WAIT", {}))), DONE) as server:
        reply = ask(server)
        sent = answered(ASKED, reply, "[#2 result WAIT]\n")
        assert reply.native
        foreign = replace(sent.messages[2], native=replace(reply.native, source="other model"))
        messages = (*sent.messages[:2], foreign, *sent.messages[3:])
        ask(server, Prompt(messages, FUNCTIONS))  # natively, another model's answer
        ask(server, Prompt(sent.messages))  # by lines
    for body in server.bodies[1:]:
        assert [message["role"] for message in body["messages"]] == [
            "system",
            "user",
            "assistant",
            "user",
        ]
        assert body["messages"][2]["content"] == "WAIT"
        assert body["messages"][3]["content"] == "[#2 result WAIT]\ngo on"
    assert "tools" not in server.bodies[2]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "OpenAI"),
        ("https://api.deepseek.com", "DeepSeek"),
        ("https://openrouter.ai/api/v1", "OpenRouter"),
        ("https://api.anthropic.com/v1/", "Anthropic"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "Gemini"),
        ("https://us-central1-aiplatform.googleapis.com/v1/openapi", "Gemini"),
        ("https://ollama.com/v1", "Ollama"),
        ("https://notopenai.com/v1", ""),
        ("https://api.openai.com.evil.example/v1", ""),
        ("http://[/v1", ""),
        ("", ""),
    ],
)
def test_a_provider_is_known_by_its_host(url: str, name: str) -> None:
    assert function_calls.provider(Profile("fish", url), 0.1).name == name


@pytest.mark.parametrize(
    "answer",
    [
        http(404, b"{}"),
        http(200, b"[]"),
        http(200, b'{"data": [5, {"owned_by": []}]}'),
        http(200, b"\xff"),
        http(200, b"[" * 100_000),
    ],
)
def test_a_server_that_does_not_say_what_it_is_is_unknown(answer: bytes) -> None:
    with Scripted(answer) as server:
        assert function_calls.provider(Profile("fish", server.base_url), 5.0) is UNKNOWN


def test_each_difference_names_its_source() -> None:
    assert all(known.source.startswith("https://") for known in PROVIDERS)


def complaint(status: int, message: str) -> bytes:
    return http(status, json.dumps({"error": {"message": message}}).encode())


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.ollama.ai/library/llama3:8b does not support tools"),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser',
        ),
        (404, "No endpoints found that support tool use."),
        (500, "tools param requires --jinja flag"),
        (400, "Invalid schema for function 'SAY': schema must have type 'object'"),
        (400, "Unsupported parameter: 'tools' is not supported with this model."),
        (400, "The `reasoning_content` in the thinking mode must be passed back to the API."),
        (400, "Function call is missing a thought_signature in functionCall parts."),
        (422, "this model cannot do function calling"),
    ],
)
def test_a_refusal_of_functions_is_told_from_others(status: int, message: str) -> None:
    with Scripted(complaint(status, message)) as server, pytest.raises(FunctionsRefused):
        ask(server)


@pytest.mark.parametrize(
    ("status", "message"), [(500, "the tool server crashed"), (503, "tools are overloaded")]
)
def test_a_failure_that_may_pass_is_no_refusal(status: int, message: str) -> None:
    with Scripted(complaint(status, message)) as server, pytest.raises(ModelAway):
        ask(server)


def test_a_stream_that_ends_within_a_call_is_no_answer() -> None:
    half = piece(
        tool_calls=[
            {"index": 0, "id": "a", "function": {"name": "ADD_TO_SOUL", "arguments": '{"text": "I'}}
        ]
    )
    with Scripted(stream(half)) as server, pytest.raises(ModelAway):
        ask(server)


def test_a_key_in_the_arguments_of_a_call_does_not_come_through() -> None:
    key = "sk-0123456789abcdef0123456789"
    load_client()
    with Scripted(stream(called(("ADD_TO_SOUL", {"text": f"my key is {key}"})))) as server:
        config = Config(model="fish", base_url=server.base_url, api_key=key, timeout=5)
        reply = Endpoint(config).complete(ASKED, "turn")
    assert reply.native and key not in reply.text + str(reply.native)


def test_what_is_counted_without_figures_includes_schemas_and_arguments() -> None:
    text = "a belief " * 200
    with Scripted(stream(called(("ADD_TO_SOUL", {"text": text})))) as server:
        usage = ask(server).usage
    assert usage.prompt > sum(len(each.schema) for each in FUNCTIONS) // 5
    assert usage.completion > len(text) // 5


def test_a_call_that_repeats_itself_without_an_end_is_cut() -> None:
    begun = {"index": 0, "id": "a", "function": {"name": "ADD_TO_SOUL", "arguments": '{"text": "'}}
    more = [
        piece(tool_calls=[{"index": 0, "function": {"arguments": "and so on and so on. "}}])
        for _ in range(2000)
    ]
    with Scripted(stream(piece(tool_calls=[begun]), *more, piece("tool_calls"))) as server:
        reply = ask(server)
    assert reply.cut and len(reply.text) < 10_000
    assert reply.native and "no JSON" in reply.native.calls[0].problem
