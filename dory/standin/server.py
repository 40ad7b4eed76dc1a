"""Any model behind loopback HTTP in the OpenAI chat format, billed as a provider would, and with faults when asked for.

    POST /v1/chat/completions    streamed or whole
    GET  /v1/models
    POST /faults                 a JSON list of faults, for other processes; each completion that comes in takes one off the queue

A completion that a fault refuses reaches neither the model nor the cache. Connections are not kept open, so whoever closes the server leaves
nobody talking to it; silences, and answers without an end, stop then, too.
"""

import contextlib
import json
import threading
from collections import Counter, deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from dory.errors import ModelAway, ModelError, WindowExceeded
from dory.records import Model, Prompt, Purpose
from dory.standin import provider
from dory.standin.provider import Fault, Request


class Server(ThreadingHTTPServer):
    """Serves ``model`` inside a ``with`` block, on ``port`` or any free one; ``latency`` in seconds is waited before every answer. A fault is
    in ``faults`` for one completion, in ``lasting`` for all of a purpose. ``arrived`` counts all, ``requests`` keeps those not refused.
    """

    request_queue_size = 128  # with the default of 5 the fan-out of a compaction would wait a second for its connections

    def __init__(self, model: Model, port: int = 0, latency: float = 0.0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model = model
        self.latency = latency
        self.faults: deque[Fault] = deque()
        self.lasting: dict[Purpose, Fault] = {}
        self.arrived: Counter[Purpose] = Counter()
        self.requests: list[Request] = []
        self._cache = provider.Cache()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="standin", daemon=True)

    @property
    def base_url(self) -> str:
        """What a client is given as its endpoint."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def next_fault(self, purpose: Purpose) -> Fault:
        """The fault that the completion coming in now has to suffer; mostly one without effect."""
        with self._lock:
            self.arrived[purpose] += 1
            return self.faults.popleft() if self.faults else self.lasting.get(purpose, Fault())

    def received(self, prompt: Prompt) -> Request:
        """Count a prompt and keep the request."""
        with self._lock:
            request = self._cache.request(prompt)
            self.requests.append(request)
        return request

    def waited(self, seconds: float) -> bool:
        """Let time pass; False when the server was closed meanwhile."""
        return not self._closing.wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    """One connection, with one request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or every piece of a stream waits for the one before it to be acknowledged
    server: Server

    def handle(self) -> None:
        """Serve, until the client leaves."""
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        """Name the model that is served."""
        if self.path == "/v1/models":
            self._send_json(200, {"object": "list", "data": [{"id": self.server.model.name, "object": "model", "owned_by": "dory"}]})
        else:
            self._refuse(404, f"there is nothing at {self.path}")

    def do_POST(self) -> None:
        """Complete a prompt, or queue faults."""
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        take = {"/faults": self._queue, "/v1/chat/completions": self._complete}.get(self.path)
        if not take:
            return self._refuse(404, f"there is nothing at {self.path}")
        try:
            asked = json.loads(content)
        except ValueError as error:
            return self._refuse(400, f"the request is not JSON: {error}")
        return take(asked)

    def _queue(self, asked: Any) -> None:
        try:
            self.server.faults.extend([Fault(**each) for each in asked])
        except TypeError as error:
            return self._refuse(400, f"this is not a list of faults: {error}")
        return self._send_json(200, {"queued": len(asked)})

    def _complete(self, asked: Any) -> None:
        server = self.server
        try:
            prompt = Prompt(provider.messages(asked))
        except ValueError as error:
            return self._refuse(400, str(error))
        fault = server.next_fault(provider.purpose(prompt))
        if not server.waited(server.latency + fault.delay) or fault.close == "before":
            self.close_connection = True
            return None
        if fault.status:
            return self._fail(fault)
        request = server.received(prompt)
        try:
            text, reasoning, finish = self._answer(prompt, request.purpose, fault)
        except ModelError as error:
            code = "context_length_exceeded" if isinstance(error, WindowExceeded) else None
            return self._refuse(503 if isinstance(error, ModelAway) else 400, str(error), code)
        usage = provider.usage(request, text + reasoning)
        if asked.get("stream") and not fault.whole:
            told = (asked.get("stream_options") or {}).get("include_usage")
            return self._stream(provider.pieces(text, reasoning), finish, usage if told else None, fault)
        return self._send_json(200, provider.whole(server.model.name, text, reasoning, finish, usage))

    def _answer(self, prompt: Prompt, purpose: Purpose, fault: Fault) -> tuple[str, str, str]:
        if fault.text is not None:
            return fault.text, fault.reasoning, fault.finish or "stop"
        reply = self.server.model.complete(prompt, purpose)
        return reply.text, reply.reasoning, fault.finish or ("length" if reply.cut else "stop")

    def _stream(self, pieces: list[dict[str, str]], finish: str, usage: dict[str, Any] | None, fault: Fault) -> None:
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        middle = len(pieces) // 2
        for piece in pieces[:middle]:
            self._event([{"index": 0, "delta": piece, "finish_reason": None}])
        self._chunk(fault.raw.encode("latin-1"))
        while fault.endless and self.server.waited(fault.pause):
            self._chunk(fault.raw.encode("latin-1"))
        if not self.server.waited(fault.pause) or fault.close == "middle":
            return
        if fault.close != "early":
            for piece in pieces[middle:]:
                self._event([{"index": 0, "delta": piece, "finish_reason": None}])
            self._event([{"index": 0, "delta": {}, "finish_reason": finish}])
            if usage:
                self._event([], usage=usage)
            self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _fail(self, fault: Fault) -> None:
        headers = {"Content-Type": "application/json", **fault.headers}
        if fault.endless:
            self._head(fault.status, {**headers, "Transfer-Encoding": "chunked"})
            while self.server.waited(fault.pause):
                self._chunk(fault.body.encode())
        else:
            self._send(fault.status, headers, fault.body.encode())

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> None:
        event = provider.envelope("chat.completion.chunk", self.server.model.name, choices)
        self._chunk(f"data: {json.dumps({**event, **more})}\n\n".encode())

    def _refuse(self, status: int, message: str, code: str | None = None) -> None:
        kind = "invalid_request_error" if status < 500 else "server_error"
        self._send_json(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})

    def _send_json(self, status: int, content: dict[str, Any]) -> None:
        self._send(status, {"Content-Type": "application/json"}, json.dumps(content).encode())

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._head(status, {**headers, "Content-Length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, content: bytes) -> None:
        if content:  # an empty chunk would end the body
            self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: what was asked is in ``Server.requests``."""
