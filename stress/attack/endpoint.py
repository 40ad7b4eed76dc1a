"""A server that answers every request with the bytes it is given, and keeps what it was sent."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Recorder(ThreadingHTTPServer):
    """Serves inside a ``with`` block. ``answer`` gives the bytes of an answer, head and all."""

    def __init__(self, answer: Callable[[], bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.received: list[str] = []
        """The head and the body of each request."""
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        """The endpoint for clients."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.received.append(f"{self.headers}\n{body.decode('utf-8', 'replace')}")
        self.close_connection = True
        try:
            self.wfile.write(self.server.answer())
        except ConnectionError:  # whoever asked has left
            return

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def http(status: str, body: bytes = b"", *headers: str) -> bytes:
    """A whole answer."""
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body
