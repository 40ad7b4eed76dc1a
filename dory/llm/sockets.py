"""The sockets of a call: whoever cancels the call closes them, and so does the clock, in whatever
phase it is.

A server that computes one answer at a time stops computing when its client is gone. So it is not
enough to leave a call alone. The client hands out a connection only with the headers of an answer,
which may take minutes. Therefore each read and write tells the call of its own thread where it is.
One clock runs for the whole call: while headers drip in, or provisional answers (103) come without
an end, the client itself looks at none.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import httpcore2
import httpx2

from dory.control import Control
from dory.process.jobs import Job

_LOOK = 0.05
"""Seconds after which a thread that waits for a connection looks whether its call was cancelled."""
_LATE = "the call did not come to an end in time"


class Unending(httpx2.ReadError):
    """A call did not come to its end in time."""


class _Current(threading.local):
    control: Control | None = None
    deadline = float("inf")


_current = _Current()


@contextmanager
def bounded(control: Control, seconds: float) -> Iterator[None]:
    """Within the block, ``control`` ends whatever this thread does on a ``client`` below. What is
    not read after so many ``seconds`` raises ``Unending``.
    """
    _current.control = control
    _current.deadline = time.monotonic() + seconds
    try:
        yield
    finally:
        _current.control = None
        del _current.deadline


def client(transport: httpx2.Client) -> httpx2.Client:
    """The client, with connections that a call's ``control`` and clock end."""
    # The client has no public way to choose what makes its connections.
    transports = [transport._transport, *transport._mounts.values()]
    for each in transports:
        if isinstance(each, httpx2.HTTPTransport):
            pool = cast(Any, each)._pool
            pool._network_backend = _Backend(pool._network_backend)
    return transport


class _Backend(httpcore2.NetworkBackend):
    """Makes connections beside the thread of the call: looking up a name, and connecting, cannot be
    interrupted.
    """

    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _connected(lambda: self._backend.connect_tcp(*args, **options))

    def connect_unix_socket(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _connected(lambda: self._backend.connect_unix_socket(*args, **options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = _current.deadline - time.monotonic()
        late = timeout is None or left < timeout
        if left <= 0:
            raise Unending(_LATE)
        try:
            with self._ended_by_call():
                return self._stream.read(max_bytes, left if late else timeout)
        except httpcore2.ReadTimeout:
            if late:
                raise Unending(_LATE) from None
            raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._ended_by_call():
            self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        with self._ended_by_call():
            return _Stream(self._stream.start_tls(*args, **options))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    @contextmanager
    def _ended_by_call(self) -> Iterator[None]:
        control = _current.control
        if control is None:
            yield
            return
        with control.ended_by(self._shut_down):
            yield

    def _shut_down(self) -> None:
        """Wake the thread that reads or writes, and let the server know."""
        with suppress(OSError):  # it may be closed already
            # not the method of a TLS socket, which would change what the other thread works with
            socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)


def _connected(connect: Callable[[], httpcore2.NetworkStream]) -> httpcore2.NetworkStream:
    control = _current.control
    if control is None:
        return _Stream(connect())

    def connected() -> httpcore2.NetworkStream:
        stream = connect()
        if control.cancelled:  # nobody waits for it any more
            stream.close()
        return stream

    job = Job(connected, "connect")
    while not job.wait(_LOOK):
        if control.cancelled:
            raise httpcore2.ConnectError("cancelled")
    return _Stream(job.result())
