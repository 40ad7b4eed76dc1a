"""Shared by the tests of the model connection: a small model to serve, a caller that does not wait
between tries, and a server that sends any bytes.
"""

import importlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from dory.config.settings import Config
from dory.control import Control
from dory.llm.completions import Endpoint
from dory.llm.retry import RetryingModel
from dory.types import Message, Prompt, Purpose, Reply, Usage

KEY = "sk-0123456789abcdef"
ANSWER = "Nothing is lost, and 'ünïcödé' 🐟 neither."


def prompt(*contents: str) -> Prompt:
    """A prompt of user messages."""
    return Prompt(tuple(Message("user", content) for content in contents))


def varied(size: int) -> str:
    """A text of that many characters that does not repeat itself."""
    return " ".join(map(str, range(size // 2)))[:size]


def load_client() -> None:
    """Import the client library now. The deadline of a call starts before its connection is made,
    and on a busy machine the import alone takes seconds.
    """
    importlib.import_module("openai")


class Fish:
    """A model that always says the same, after a thought about what it was asked for."""

    name = "fish"

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        return Reply(ANSWER, f"a {purpose} is wanted", Usage(purpose, self.name, 0, None, 0, 0.0))


class Caller:
    """An ``Endpoint`` that is asked again, with what it logged and how long it would have waited,
    in seconds.
    """

    def __init__(
        self, base_url: str, key: str = KEY, retries: int = 4, timeout: float = 5.0, **settings: Any
    ) -> None:
        load_client()
        self.logged: list[str] = []
        self.waits: list[float] = []
        settings = {"model": "fish", **settings}
        config = Config(
            base_url=base_url, api_key=key, retries=retries, timeout=timeout, **settings
        )
        self.endpoint = RetryingModel(
            Endpoint(config), config, self.logged.append, self.waits.append
        )

    def ask(self, *contents: str) -> Reply:
        return self.endpoint.complete(prompt(*contents or ("hello",)), "turn")


class Scripted(ThreadingHTTPServer):
    """Answers each request with the next of ``answers``, byte for byte, and closes; the last one is
    for all further requests, too.
    """

    def __init__(self, *answers: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Script)
        self.answers = list(answers)
        self.told = b""
        """What it says of itself; empty: the first of the answers."""
        self.headers: list[dict[str, str]] = []
        self.asked: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Script(BaseHTTPRequestHandler):
    server: Scripted

    def do_GET(self) -> None:
        """A question about the server: it takes no answer away from the calls."""
        self.server.asked.append({name.lower(): value for name, value in self.headers.items()})
        self.wfile.write(self.server.told or self.server.answers[0])

    def do_POST(self) -> None:
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        answers = self.server.answers
        self.wfile.write(answers.pop(0) if len(answers) > 1 else answers[0])

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def http(
    status: int, body: bytes, kind: str = "application/json", length: int | None = None
) -> bytes:
    """A whole HTTP answer. With ``length`` it announces another number of bytes than it has."""
    size = len(body) if length is None else length
    return (
        f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n"
        "Connection: close\r\n\r\n".encode()
        + body
    )


def stream(*chunks: object) -> bytes:
    """A whole HTTP answer that streams ``chunks``, and [DONE]."""
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return http(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")


def piece(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
