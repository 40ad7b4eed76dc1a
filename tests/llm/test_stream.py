"""The endpoint against a real server over loopback: what is sent, and what an answer holds."""

import gzip
import json
import socket
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dory.errors import ModelAway, ModelError, ModelRefused
from dory.llm.completions import ANSWER_LIMIT, LIMITS
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.process.jobs import in_parallel
from dory.text import formatting
from tests.support.wire import ANSWER, KEY, Caller, Scripted, http, piece, prompt, stream, varied


@pytest.fixture(scope="module")
def caller(serving: Server) -> Caller:
    return Caller(serving.base_url)


def test_an_answer_comes_back_with_its_reasoning_and_its_usage(server: Server) -> None:
    caller = Caller(server.base_url)
    reply = caller.endpoint.complete(prompt("You are a fish.", "x" * 1000), "summarise")
    assert (reply.text, reply.reasoning, reply.cut) == (ANSWER, "a turn is wanted", False)
    usage = reply.usage
    assert (usage.purpose, usage.model, usage.prompt, usage.cached) == (
        "summarise",
        "fish",
        formatting.tokens("You are a fish.\n\n" + "x" * 1000),
        0,
    )
    assert usage.completion == formatting.tokens_of(len(ANSWER + "a turn is wanted"))
    assert usage.seconds > 0
    assert not caller.logged


def test_what_was_sent_before_is_reported_as_cached(server: Server) -> None:
    caller = Caller(server.base_url)
    first = prompt("".join(f"{number} fish, " for number in range(500)))
    caller.endpoint.complete(first, "turn")
    again = caller.endpoint.complete(first.fork("Sum it up."), "summarise")
    assert again.usage.cached == len(first.text) // 256 * 64


def test_every_answer_has_a_limit_and_other_settings_are_sent_only_when_they_are_set() -> None:
    whole = stream(piece("stop", content="hi"))
    with Scripted(whole) as scripted:
        Caller(scripted.base_url).ask("hello")
        Caller(scripted.base_url, max_tokens=50, temperature=0.0).ask()
    plain, limited = scripted.bodies
    assert plain == {
        "model": "fish",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": LIMITS["turn"],
        "stop": ["\n[#"],
    }
    assert (limited["max_tokens"], limited["temperature"]) == (50, 0.0)
    assert scripted.headers[0]["authorization"] == f"Bearer {KEY}"


def test_the_client_does_not_take_a_key_from_elsewhere_for_a_server_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    with Scripted(stream(piece("stop", content="hi"))) as scripted:
        assert Caller(scripted.base_url, key="").ask().text == "hi"
    assert "somebody" not in str(scripted.headers)


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_that_does_not_know_stream_options_is_never_asked_for_them_again(
    status: int,
) -> None:
    complaint = http(
        status,
        b'{"error": {"message": "Unknown parameter: \'stream_options\'.",'
        b' "param": "stream_options"}}',
    )
    with Scripted(complaint, stream(piece("stop", content="four letters"))) as scripted:
        caller = Caller(scripted.base_url, retries=0)
        reply = caller.ask("x" * 41)
        caller.ask()
    assert (reply.text, reply.usage.prompt, reply.usage.cached, reply.usage.completion) == (
        "four letters",
        11,
        None,
        3,
    )
    assert ["stream_options" in body for body in scripted.bodies] == [True, False, False]
    assert not caller.logged


def test_an_endpoint_that_renamed_max_tokens_gets_its_new_name() -> None:
    complaint = http(
        400,
        b'{"error": {"message": "\'max_tokens\' is not supported with this model.'
        b" Use 'max_completion_tokens' instead.\"}}",
    )
    with Scripted(complaint, stream(piece("stop", content="hi"))) as scripted:
        assert Caller(scripted.base_url, max_tokens=50).ask().text == "hi"
    assert scripted.bodies[1]["max_completion_tokens"] == 50
    assert "max_tokens" not in scripted.bodies[1]


def test_reasoning_is_read_where_openrouter_and_ollama_put_it() -> None:
    chunks = (
        piece(reasoning="hm ", content=""),
        piece(reasoning="hm", content=None),
        piece(content="yes"),
        piece("stop"),
    )
    with Scripted(stream(*chunks)) as scripted:
        reply = Caller(scripted.base_url).ask()
    assert (reply.text, reply.reasoning) == ("yes", "hm hm")


def test_a_count_that_grows_with_the_stream_is_read_at_its_last() -> None:
    counts = [{"usage": {"prompt_tokens": 9, "completion_tokens": number}} for number in (1, 2)]
    with Scripted(stream(piece(content="yes"), *counts, piece("stop"))) as scripted:
        usage = Caller(scripted.base_url).ask().usage
    assert (usage.prompt, usage.completion) == (9, 2)


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("<think>\nhm\n</think>\n\nSAY dev yes", "SAY dev yes", "hm"),
        ("\n<THINK>hm</think>yes</think>", "yes</think>", "hm"),
        ("<think>SAY dev half a thou", "", "SAY dev half a thou"),
        ("<think></think>yes", "yes", ""),
        ("yes <think>hm</think>", "yes <think>hm</think>", ""),
    ],
)
def test_a_think_block_at_the_beginning_is_reasoning(
    server: Server, content: str, text: str, reasoning: str
) -> None:
    server.faults.append(Fault(text=content))
    reply = Caller(server.base_url, retries=0).ask()
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_an_answer_at_its_length_limit_says_so_and_even_when_empty_is_not_asked_for_again(
    server: Server,
) -> None:
    server.faults.extend([Fault(finish="length"), Fault(text="", finish="length")])
    caller = Caller(server.base_url)
    assert [(reply.text, reply.cut) for reply in (caller.ask(), caller.ask())] == [
        (ANSWER, True),
        ("", True),
    ]
    assert not caller.logged


def test_an_empty_answer_is_asked_for_again_once(server: Server) -> None:
    server.faults.extend([Fault(text=""), Fault(text="")])
    caller = Caller(server.base_url)
    assert caller.ask().text == ""
    assert [line.partition(";")[0].partition(" ")[2] for line in caller.logged] == [
        "sent an empty answer"
    ]
    server.faults.append(Fault(text=" \n"))
    assert caller.ask().text == ANSWER


def test_halves_of_a_surrogate_pair_are_joined_and_lone_ones_replaced() -> None:
    with Scripted(
        stream(piece(content="a \ud83d"), piece(content="\udc1f and \udc1f"), piece("stop"))
    ) as scripted:
        assert Caller(scripted.base_url).ask("and \ud83d too").text == "a 🐟 and \ufffd"
    assert scripted.bodies[0]["messages"][0]["content"] == "and \ufffd too"


@given(
    st.text(
        st.characters(categories=("L", "N", "P", "S", "Z", "C")), min_size=1, max_size=60
    ).filter(str.strip)
)
@settings(max_examples=50, deadline=None)
def test_any_text_survives_the_wire(serving: Server, caller: Caller, text: str) -> None:
    serving.faults.append(Fault(text=text))
    assert caller.ask().text == formatting.encodable(text)


def test_the_largest_answer_arrives_whole_and_a_larger_one_is_refused(server: Server) -> None:
    server.faults.extend(
        [
            Fault(text=varied(ANSWER_LIMIT)),
            Fault(text=varied(ANSWER_LIMIT), reasoning="i"),
            Fault(text="", reasoning=varied(5_000_000)),
        ]
    )
    caller = Caller(server.base_url)
    assert len(caller.ask().text) == ANSWER_LIMIT
    for _ in range(2):
        with pytest.raises(
            ModelRefused,
            match=r"more than 1,000,000 characters and was not read on: set --max-tokens$",
        ) as refused:
            caller.ask()
        assert refused.value.usage.completion >= ANSWER_LIMIT // 4, "it will be charged"
    assert not caller.logged


@pytest.mark.parametrize(
    "raw",
    [
        "data: " + json.dumps(piece(content=varied(10_000))) + "\n\n",
        "data: " + json.dumps(piece(reasoning_content=varied(10_000))) + "\n\n",
        "x" * 100_000,
        "data: " + "[" * 100_000,
    ],
    ids=["text", "reasoning", "a line", "a line of data"],
)
def test_an_answer_without_an_end_is_not_read_on(server: Server, raw: str) -> None:
    server.faults.append(Fault(raw=raw, endless=True))
    with pytest.raises(ModelError, match=r"was not read on|sent broken data"):
        Caller(server.base_url, retries=0).ask()


@pytest.mark.parametrize(
    "fault",
    [Fault(raw=": still here\n\n"), Fault(status=503, body=" ")],
    ids=["comments", "the words of an error"],
)
def test_what_drips_in_for_ever_is_left_after_ten_times_the_timeout(
    server: Server, fault: Fault
) -> None:
    server.faults.append(replace(fault, endless=True, pause=0.05))
    with pytest.raises(ModelAway, match="did not come to an end with its answer"):
        Caller(server.base_url, timeout=0.1).ask()


@pytest.mark.parametrize(
    "heads",
    ["HTTP/1.1 200 OK\r\n", "x-still: here\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n", "H"],
    ids=["a status again and again", "headers", "provisional answers", "letters"],
)
def test_headers_that_never_end_are_left_after_ten_times_the_timeout(
    server: Server, heads: str
) -> None:
    server.faults.append(Fault(heads=heads, pause=0.05))
    with pytest.raises(ModelAway, match="did not come to an end with its answer"):
        Caller(server.base_url, timeout=0.1, retries=0).ask()


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("200 OK", "its answers come compressed, which was not asked for"),
        ("503 Busy", "answered with error 503: no reason given"),
    ],
)
def test_what_comes_compressed_is_not_unpacked(status: str, told: str) -> None:
    """A gigabyte of blanks is a megabyte on the wire: unpacking the page took 43 s and 590 MB."""
    page = gzip.compress(b" " * 50_000_000)
    head = f"HTTP/1.1 {status}\r\nContent-Encoding: gzip\r\nContent-Length: {len(page)}\r\n\r\n"
    tracemalloc.start()
    try:
        with Scripted(head.encode() + page) as scripted, pytest.raises(ModelError, match=told):
            Caller(scripted.base_url, retries=0).ask()
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert scripted.headers[0]["accept-encoding"] == "identity"


def test_the_words_of_an_error_are_read_as_far_as_they_matter(server: Server) -> None:
    server.faults.append(Fault(status=503, body="it never stops " * 1000, endless=True))
    with pytest.raises(ModelAway, match="answered with error 503: it never stops"):
        Caller(server.base_url, retries=0).ask()


def test_an_endpoint_that_does_not_stream_is_understood(server: Server) -> None:
    server.faults.extend(
        [
            Fault(whole=True),
            Fault(whole=True, text="cut o", finish="length"),
            Fault(whole=True, text="", reasoning="hm"),
        ]
    )
    caller = Caller(server.base_url, retries=0)
    replies = [caller.ask() for _ in range(3)]
    assert [(reply.text, reply.reasoning, reply.cut) for reply in replies] == [
        (ANSWER, "a turn is wanted", False),
        ("cut o", "", True),
        ("", "hm", False),
    ]
    assert replies[0].usage.completion == formatting.tokens_of(len(ANSWER + "a turn is wanted"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{\n "error": {"message": "no such fish", "code": 402}\n}', "top it up"),
        (b'{"error": "overloaded"}', "overloaded"),
        (b'{"choices": [', "broken data"),
        (b'{"choices": []}', "broke off"),
        (b'"yes"', "broke off"),
        (b" {" + b" " * 9_000_000, "broken data"),
        (b'{"a":' * 100_000, "broken data"),
    ],
)
def test_an_answer_in_one_piece_may_be_no_answer(body: bytes, words: str) -> None:
    with Scripted(http(200, body)) as scripted, pytest.raises(ModelError, match=words):
        Caller(scripted.base_url, retries=0).ask()


def test_lines_that_are_no_data_are_passed_over() -> None:
    odd = (
        b": comment\n\nevent: message\nid: 7\nretry: 10\nhello\n\xff\xfe\x00\n"
        b"{no: json}\ndata\ndata:\ndata:   \n"
    )
    whole = stream(piece("stop", content="hi"))
    body = whole.partition(b"\r\n\r\n")[2].replace(b"data: [DONE]", b"data:[DONE]\r\n\r\ndata: {")
    with Scripted(
        http(200, odd + body.replace(b'data: {"', b'data:{"') + odd, "text/event-stream")
    ) as scripted:
        assert Caller(scripted.base_url, retries=0).ask().text == "hi"


def test_chunks_of_unknown_shape_are_passed_over() -> None:
    odd: tuple[object, ...] = (
        [1],
        "x",
        3,
        None,
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": {"a": 1}},
        {"choices": [{"delta": None}]},
        {"usage": "x"},
    )
    mad = {
        "choices": [{"delta": {"content": 5, "reasoning": []}, "finish_reason": 7}],
        "usage": {"prompt_tokens": "9", "completion_tokens": True},
    }
    with Scripted(stream(piece(content="wh"), *odd, mad, piece("stop", content="ole"))) as scripted:
        reply = Caller(scripted.base_url).ask("x" * 40)
    assert (reply.text, reply.reasoning, reply.usage.prompt, reply.usage.completion) == (
        "whole",
        "",
        10,
        2,
    )


def test_many_threads_share_one_endpoint(server: Server) -> None:
    caller = Caller(server.base_url)
    server.faults.extend([Fault(delay=0.05)] * 12)
    replies = in_parallel([caller.ask] * 12, "caller")
    assert [reply.text for reply in replies] == [ANSWER] * 12


def test_an_address_that_is_none_is_refused_and_not_tried(server: Server) -> None:
    caller = Caller("http://[::1")
    with pytest.raises(ModelRefused, match="no address"):
        caller.ask()
    with socket.socket() as taken:  # nobody listens
        taken.bind(("127.0.0.1", 0))
        quiet = Caller(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", key="sk-kéy")
        with pytest.raises(ModelRefused, match="characters that no key has: check DORY_API_KEY"):
            quiet.ask()


@pytest.mark.parametrize("whole", [True, False])
def test_a_byte_order_mark_at_the_beginning_is_no_damage(whole: bool) -> None:
    body = stream(piece("stop", content="all well")).partition(b"\r\n\r\n")[2]
    if whole:
        message = {"choices": [{"message": {"content": "all well"}, "finish_reason": "stop"}]}
        body = json.dumps(message).encode()
    with Scripted(http(200, b"\xef\xbb\xbf" + body)) as scripted:
        assert Caller(scripted.base_url).ask().text == "all well"


@pytest.mark.parametrize("name", ["zlib_codec", "rot13", "undefined", "idna", "no-such"])
def test_an_error_in_an_encoding_that_is_none_is_an_error_of_the_model(name: str) -> None:
    page = http(400, b"<b>no</b>", f"text/html; charset={name}")
    with Scripted(page) as scripted, pytest.raises(ModelError):
        Caller(scripted.base_url).endpoint.complete(prompt("hello"), "turn")
