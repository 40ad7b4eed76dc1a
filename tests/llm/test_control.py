"""A call that is told to end: it does, in whatever phase it is, and its server notices."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from dory.config.settings import Config
from dory.control import Control
from dory.errors import Cancelled
from dory.llm.completions import Endpoint
from dory.llm.retry import RetryingModel
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.process.jobs import Job
from tests.support.wire import ANSWER, Caller, load_client, piece, prompt, varied

SOON = 5.0
"""Seconds. All waits here would last for a minute and more if nobody ended them."""
HEAD = b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(*pieces: object) -> bytes:
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in pieces).encode()
    return b"%x\r\n%b\r\n" % (len(body), body)


class Slow:
    """A server with one connection: it answers each request with the next of ``answers`` and reads
    on, until its client is gone.
    """

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.asked = threading.Semaphore(0)
        self.left = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            connection.settimeout(60)
            request = b""
            while received := connection.recv(65536):
                request += received
                head, _, body = request.partition(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                if len(body) == size:
                    request = b""
                    connection.sendall(self._answers.pop(0) if self._answers else b"")
                    self.asked.release()
        self.left.set()
        self._socket.close()


@contextmanager
def calling(port: int, control: Control) -> Iterator[Job[object]]:
    """A call of a model with much patience, under way."""
    load_client()
    config = Config(model="fish", base_url=f"http://127.0.0.1:{port}/v1", timeout=60.0)
    endpoint = RetryingModel(Endpoint(config), config, print)
    yield Job(lambda: endpoint.complete(prompt("hello"), "turn", control), "call")


@pytest.mark.parametrize(
    "answer",
    [b"", HEAD, HEAD + chunk(piece(content="one moment"))],
    ids=["before the headers", "behind the headers", "in the middle"],
)
def test_a_call_that_is_cancelled_ends_and_its_server_sees_it_go(answer: bytes) -> None:
    server, control = Slow(answer), Control()
    with calling(server.port, control) as call:
        assert server.asked.acquire(timeout=SOON)
        assert not call.wait(0.1)
        control.cancel()
        assert call.wait(SOON)
    assert isinstance(call.error, Cancelled)
    assert server.left.wait(SOON)


def test_so_does_one_on_a_connection_that_was_used_before() -> None:
    whole = HEAD + chunk(piece("stop", content="hi")) + b"0\r\n\r\n"
    server, control = Slow(whole, b""), Control()
    config = Config(model="fish", base_url=f"http://127.0.0.1:{server.port}/v1", timeout=60.0)
    endpoint = Endpoint(config)
    assert endpoint.complete(prompt("hello"), "turn").text == "hi"
    call = Job(lambda: endpoint.complete(prompt("again"), "turn", control), "call")
    assert server.asked.acquire(timeout=SOON) and server.asked.acquire(timeout=SOON)
    control.cancel()
    assert call.wait(SOON) and isinstance(call.error, Cancelled)
    assert server.left.wait(SOON)


def test_so_does_one_that_is_still_connecting() -> None:
    load_client()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first:
        first.connect(full.getsockname())  # nobody accepts it, so the next one waits
        with socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(full.getsockname())
            control = Control()
            with calling(full.getsockname()[1], control) as call:
                assert not call.wait(0.2)
                control.cancel()
                assert call.wait(SOON)
    assert isinstance(call.error, Cancelled)


def test_a_call_that_is_cancelled_before_it_begins_asks_nobody(server: Server) -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        Caller(server.base_url).endpoint.complete(prompt("hello"), "turn", control)
    assert not server.arrived


def test_it_ends_in_a_pause_between_two_tries(server: Server) -> None:
    server.faults.append(Fault(status=503, headers={"Retry-After": "50"}))
    control = Control()
    with calling(server.server_port, control) as call:
        while not server.arrived["turn"]:
            assert not call.wait(0.02)
        control.cancel()
        assert call.wait(SOON)
    assert isinstance(call.error, Cancelled)


def test_what_had_come_by_then_is_charged() -> None:
    server, control = Slow(HEAD + chunk(piece(content="x" * 400))), Control()
    with calling(server.port, control) as call:
        while not control.text:
            assert not call.wait(0.02)
        control.cancel()
        assert call.wait(SOON)
    assert isinstance(call.error, Cancelled) and call.error.usage.completion == 100


def test_the_text_is_there_while_it_is_written_and_without_the_reasoning() -> None:
    thoughts = [piece(reasoning_content="hm"), piece(content="one "), piece(content="moment")]
    server, control = Slow(HEAD + chunk(*thoughts)), Control()
    with calling(server.port, control) as call:
        while control.text != "one moment":
            assert not call.wait(0.02)
        control.cancel()


def test_a_second_try_begins_with_an_empty_text(server: Server) -> None:
    server.faults.append(Fault(text="a half", close="middle"))
    control = Control()
    Caller(server.base_url).endpoint.complete(prompt("hello"), "turn", control)
    assert control.text == ANSWER


def test_an_answer_that_only_repeats_itself_is_cut_where_it_begins_to(server: Server) -> None:
    loop = "data: " + json.dumps(piece(content="I am a fish.\nGlub. " * 5)) + "\n\n"
    server.faults.append(Fault(text="SAY dev well. ", raw=loop, endless=True))
    reply = Caller(server.base_url, retries=0).ask()
    assert reply.cut
    assert reply.text.startswith("SAY de") and reply.text.count("Glub") == 1


def test_a_sentence_that_comes_back_again_and_again_is_cut_after_a_few_hundred_characters(
    server: Server,
) -> None:
    """A real model of 135 million parameters filled its 2,048 tokens so, for two minutes."""
    sentence = "I am at home. Your diary: empty. Your memory: empty.\n\n"
    for before in ("Hello.", "Is it empty.", "Hello"):
        server.faults.append(Fault(text=f"{before}\n\n{sentence * 20}Something else."))
        reply = Caller(server.base_url, retries=0).ask()
        assert reply.cut and reply.text.strip() == f"{before}\n\n{sentence}".strip()


def test_so_is_a_word_that_comes_back_without_an_end(server: Server) -> None:
    server.faults.append(Fault(text=f"Hello.\n\n{'adada: ' * 300}done"))
    reply = Caller(server.base_url, retries=0).ask()
    assert reply.cut and reply.text.startswith("Hello.") and len(reply.text) < 50


def test_so_are_thoughts_that_only_repeat_themselves(server: Server) -> None:
    loop = "data: " + json.dumps(piece(reasoning_content="Wait. ")) + "\n\n"
    server.faults.append(Fault(text="", raw=loop, endless=True))
    reply = Caller(server.base_url, retries=0).ask()
    assert reply.cut and reply.reasoning.count("Wait.") == 1


@pytest.mark.parametrize("begun", ["[#1 notice 2026-11-23 15:36]", "Hi.\n[USER:ada now] and you?"])
def test_a_turn_is_not_read_on_where_it_goes_on_with_the_prompt(server: Server, begun: str) -> None:
    """A stop text ends no answer that begins with a header. A real model wrote 2,048 tokens so, of
    which nothing counted.
    """
    raw = "data: " + json.dumps(piece(content=f"{begun}\n{varied(300)}")) + "\n\n"
    server.faults.append(Fault(text="", raw=raw, endless=True))
    reply = Caller(server.base_url, retries=0).ask()
    assert not reply.cut and len(reply.text) < 1000


def test_a_line_of_a_room_in_a_thought_ends_no_answer(server: Server) -> None:
    text = f"Well. <think>She says\n[USER:ada now] and you?\n{varied(3000)}</think>\nSAY dev done"
    server.faults.append(Fault(text=text))
    assert Caller(server.base_url, retries=0).ask().text == text


@pytest.mark.parametrize(
    "text",
    [
        varied(20_000),
        "-" * 2000,
        "|  |  |  |  |  |  |  |\n" * 60,
        "Row after row of stitches: " + "knit " * 200,
        "\n".join(f"- a line of a list, number {number}" for number in range(400)),
        "\n".join(f"{'very ' * number.bit_count()}long" for number in range(2000)),
    ],
)
def test_a_long_answer_is_no_loop(server: Server, text: str) -> None:
    server.faults.append(Fault(text=text))
    reply = Caller(server.base_url, retries=0).ask()
    assert (reply.text, reply.cut) == (text, False)


def test_endings_are_called_once_for_each_block_and_at_once_when_late() -> None:
    control, numbers, calls = Control(), count(), list[int]()
    with control.ended_by(lambda: calls.append(next(numbers))):
        pass
    control.cancel()
    assert calls == []
    with control.ended_by(lambda: calls.append(next(numbers))):
        assert calls == [0]
