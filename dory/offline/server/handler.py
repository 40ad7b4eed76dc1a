"""One HTTP connection with one request, and the ways to answer it, also with a fault. The
connection is not kept open, so closing the server ends it.
"""

import contextlib
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from dory.offline.server.faults import Fault


class Responding(BaseHTTPRequestHandler):
    """The base of the request handler. A client that leaves is no failure."""

    protocol_version = "HTTP/1.1"
    # Otherwise each piece of a stream waits until the one before it is acknowledged.
    disable_nagle_algorithm = True

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
        """Send the status and the headers."""
        self.send_response(status)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def chunk(self, content: bytes) -> None:
        """Send a piece of a body of unknown length. An empty piece would end the body, and is not
        sent.
        """
        if content:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))

    def waited(self, seconds: float) -> bool:
        """Wait; False when the server was closed meanwhile."""
        raise NotImplementedError

    def stream(
        self, first: list[dict[str, Any]], second: list[dict[str, Any]], fault: Fault
    ) -> None:
        """Answer with events. The fault comes between the two halves."""
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

    def drip(self, fault: Fault) -> None:
        """Never come to the end of the headers."""
        while self.waited(fault.pause):
            self.wfile.write(fault.heads.encode("latin-1"))
        self.close_connection = True

    def _send_events(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            self.chunk(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: ``Server.requests`` keeps the requests."""
