"""A fake provider for tests and benchmarks: any model behind loopback HTTP in the OpenAI formats,
with a provider's usage figures, and with faults on request. The model knows nothing of it.

    POST /v1/chat/completions    streamed or whole
    POST /v1/completions         the same for a plain text
    POST /v1/embeddings          the vectors of the offline model, whichever model is served
    GET  /v1/models
    GET  /props                  slots and window, as llama.cpp tells them, if they are limited
    POST /faults                 a JSON list of faults, for other processes; each request takes
                                 one from the queue

A request that a fault refuses reaches neither the model nor the cache. Connections are not kept
open, so nobody talks to a server that was closed. Pauses and endless answers stop then, too. With
limited slots, other completions wait for one, and an answer ends when its client leaves.
"""

import json
import select
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any, Self

from dory.errors import ModelAway, ModelError, WindowExceeded
from dory.offline.embedding import vector
from dory.offline.server import faults, formats, native
from dory.offline.server.faults import Fault, Request
from dory.offline.server.formats import COMPLETIONS, Format
from dory.offline.server.handler import Responding
from dory.types import Model, Prompt, Purpose

_LOOK = 0.02
"""Seconds between two looks whether a client has left, or a slot is free."""


class Server(ThreadingHTTPServer):
    """Serves ``model`` inside a ``with`` block, on ``port`` or, for 0, on any free one. It waits
    ``latency`` seconds before every answer. It makes ``slots`` answers at once, or any number if
    that is 0, and tells a ``window`` of so many tokens, if that is not 0. ``owner`` is
    what its list of models names as theirs. A request with functions is answered with calls.

    A fault in ``faults`` is for one request, one in ``lasting`` for all requests of a purpose.
    ``arrived`` counts all requests. Of those not refused, ``requests`` keeps the completions and
    ``embedded`` the texts of each request for vectors. What the ``cache`` serves is reported; it
    serves by prefix unless another is given.
    """

    # With the default of 5 the parallel requests of a compaction would wait a second to connect.
    request_queue_size = 128

    def __init__(
        self,
        model: Model,
        port: int = 0,
        latency: float = 0.0,
        slots: int = 0,
        window: int = 0,
        cache: faults.Cache | None = None,
        owner: str = "dory",
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model = model
        self.latency = latency
        self.slots = slots
        self.window = window
        self.owner = owner
        self.free_slots = threading.Semaphore(slots)
        self.faults: deque[Fault] = deque()
        self.lasting: dict[Purpose, Fault] = {}
        self.arrived: Counter[Purpose] = Counter()
        self.requests: list[Request] = []
        self.embedded: list[list[str]] = []
        self._cache = cache or faults.Cache()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.02,), name="offline", daemon=True
        )

    @property
    def base_url(self) -> str:
        """The endpoint for clients."""
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
        """The fault for the request that comes in now; mostly one without effect."""
        with self._lock:
            self.arrived[purpose] += 1
            return self.faults.popleft() if self.faults else self.lasting.get(purpose, Fault())

    def received(self, prompt: Prompt) -> Request:
        """Count the tokens of a prompt and keep the request."""
        with self._lock:
            request = self._cache.request(prompt)
            self.requests.append(request)
        return request

    def waited(self, seconds: float) -> bool:
        """Wait; False when the server was closed meanwhile."""
        return not self._closing.wait(seconds)


class _Handler(Responding):
    """Handles one request: routes it, and applies its fault."""

    server: Server

    def waited(self, seconds: float) -> bool:
        """Wait; False when the server was closed, or with limited slots the client has left."""
        if not self.server.slots:
            return self.server.waited(seconds)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._is_alone():
            if not self.server.waited(min(left, _LOOK)):
                return False
        return not self._is_alone()

    def _is_alone(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    @contextmanager
    def _slot(self) -> Iterator[bool]:
        """A slot for this request; False when its client has left before there was one."""
        if not self.server.slots:
            yield True
            return
        while not (taken := self.server.free_slots.acquire(blocking=False)):
            if not self.waited(_LOOK):
                break
        try:
            yield taken
        finally:
            if taken:
                self.server.free_slots.release()

    def do_GET(self) -> None:
        """Name the model that is served, or tell slots and window."""
        if self.path == "/props" and (self.server.slots or self.server.window):
            generation = {"n_ctx": self.server.window}
            slots = self.server.slots or 1
            self.send_json(200, {"total_slots": slots, "default_generation_settings": generation})
        elif self.path == "/v1/models":
            self.send_json(
                200,
                {
                    "object": "list",
                    "data": [
                        {
                            "id": self.server.model.name,
                            "object": "model",
                            "owned_by": self.server.owner,
                        }
                    ],
                },
            )
        else:
            self.refuse(404, f"there is nothing at {self.path}")

    def do_POST(self) -> None:
        """Complete a prompt, make vectors, or queue faults."""
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            asked = json.loads(content)
        except ValueError as error:
            return self.refuse(400, f"the request is not JSON: {error}")
        if self.path == "/faults":
            return self._queue(asked)
        if self.path == "/v1/embeddings":
            return self._embed(asked)
        if self.path in COMPLETIONS:
            with self._slot() as taken:
                return self._complete(COMPLETIONS[self.path], asked) if taken else None
        return self.refuse(404, f"there is nothing at {self.path}")

    def _queue(self, asked: Any) -> None:
        try:
            self.server.faults.extend([Fault(**fields) for fields in asked])
        except TypeError as error:
            return self.refuse(400, f"this is not a list of faults: {error}")
        return self.send_json(200, {"queued": len(asked)})

    def _complete(self, format: Format, asked: Any) -> None:
        server = self.server
        try:
            prompt = Prompt(format.messages(asked))
        except ValueError as error:
            return self.refuse(400, str(error))
        fault = self._remaining_fault(faults.purpose(prompt))
        if not fault:
            return None
        if fault.refuses and fault.refuses in asked:
            return self.refuse(400, f"Unsupported parameter: '{fault.refuses}' is not supported.")
        request = server.received(prompt)
        try:
            text, reasoning, finish = self._answer(prompt, request.purpose, fault)
        except ModelError as error:
            code = "context_length_exceeded" if isinstance(error, WindowExceeded) else None
            return self.refuse(503 if isinstance(error, ModelAway) else 400, str(error), code)
        text = formats.stopped(text, asked)
        usage = faults.usage(request, text + reasoning)
        calls: list[Any] = []
        if asked.get("tools") and fault.text is None:
            text, calls = native.calls(text, native.offered(asked), len(server.requests))
            finish = "tool_calls" if calls and finish == "stop" else finish
        if asked.get("stream") and not fault.whole:
            include_usage = (asked.get("stream_options") or {}).get("include_usage")
            counted = usage if include_usage else None
            first, second = formats.halves(
                format, server.model.name, text, reasoning, finish, counted, calls
            )
            return self.stream(first, second, fault)
        choice = {"index": 0, **format.whole(text, reasoning), "finish_reason": finish}
        if calls:
            choice["message"]["tool_calls"] = calls
        return self.send_json(
            200, {**formats.envelope(format.kind, server.model.name, [choice]), "usage": usage}
        )

    def _embed(self, asked: Any) -> None:
        try:
            texts = formats.texts(asked)
        except ValueError as error:
            return self.refuse(400, str(error))
        fault = self._remaining_fault("embedding")
        if not fault:
            return None
        self.server.embedded.append(texts)
        if fault.text is not None:
            return self.send(200, {"Content-Type": "application/json"}, fault.text.encode())
        return self.send_json(
            200, formats.vectors(self.server.model.name, texts, [vector(text) for text in texts])
        )

    def _remaining_fault(self, purpose: Purpose) -> Fault | None:
        """Apply what a fault does before the answer. Returns the fault for the rest of the answer,
        or None when the request has ended already.
        """
        fault = self.server.next_fault(purpose)
        if not self.waited(self.server.latency + fault.delay) or fault.close == "before":
            self.close_connection = True
            return None
        if fault.heads:
            self.drip(fault)
            return None
        if fault.status:
            self.fail(fault)
            return None
        return fault

    def _answer(self, prompt: Prompt, purpose: Purpose, fault: Fault) -> tuple[str, str, str]:
        if fault.text is not None:
            return fault.text, fault.reasoning, fault.finish or "stop"
        reply = self.server.model.complete(prompt, purpose)
        return reply.text, reply.reasoning, fault.finish or ("length" if reply.cut else "stop")
