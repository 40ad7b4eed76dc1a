"""One HTTP connection with one request, and the ways to answer it, also with a fault. It is not
kept open, so that whoever closes the server ends it, too.
"""

import contextlib
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from dory.offline.server.faults import Fault


class Responding(BaseHTTPRequestHandler):
    """What any handler of requests needs; a client that leaves is no failure."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # or every piece of a stream waits for the one before it to be acknowledged
    )

    def handle(self) -> None:
        """Serve, until the client leaves."""
        with contextlib.suppress(ConnectionError):
            super().handle()

    def refuse(self, status: int, message: str, code: str | None = None) -> None:
        """Answer with an error in OpenAI's form."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        self.send_json(
            status, {"error": {"message": message, "type": kind, "param": None, "code": code}}
        )

    def send_json(self, status: int, content: dict[str, Any]) -> None:
        """Answer with JSON."""
        self.send(status, {"Content-Type": "application/json"}, json.dumps(content).encode())

    def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Answer with a body of known length."""
        self.head(status, {**headers, "Content-Length": str(len(body))})
        self.wfile.write(body)

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send what stands before a body."""
        self.send_response(status)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def chunk(self, content: bytes) -> None:
        """Send a piece of a body of unknown length; an empty one would end it and is not sent."""
        if content:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))

    def waited(self, seconds: float) -> bool:
        """Let time pass; False when nobody is to be answered any more."""
        raise NotImplementedError

    def stream(
        self, first: list[dict[str, Any]], second: list[dict[str, Any]], fault: Fault
    ) -> None:
        """Answer with events, in whose middle the fault is."""
        self.head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        self._send_events(first)
        self.chunk(fault.raw.encode("latin-1"))
        while fault.endless and self.waited(fault.pause):
            self.chunk(fault.raw.encode("latin-1"))
        if not self.waited(fault.pause) or fault.close == "middle":
            return
        if fault.close != "early":
            self._send_events(second)
            self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def fail(self, fault: Fault) -> None:
        """Answer with the status, headers and body of a fault."""
        headers = {"Content-Type": "application/json", **fault.headers}
        if fault.endless:
            self.head(fault.status, {**headers, "Transfer-Encoding": "chunked"})
            while self.waited(fault.pause):
                self.chunk(fault.body.encode())
        else:
            self.send(fault.status, headers, fault.body.encode())

    def _send_events(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            self.chunk(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: what was asked is in ``Server.requests``."""
