"""The body of a response: bounded, and decoded.

Whatever an endpoint sends, reading it takes limited memory: of the page behind an error only the
beginning is read, a line has a greatest length, and nothing is unpacked, as a compressed megabyte
may hold a gigabyte. That reading ends in time is a matter of its socket (``llm/sockets.py``).
"""

import codecs
import itertools
import json
from collections.abc import Iterable, Iterator
from typing import cast

import httpx2

ERROR_LIMIT = 65_536
"""Bytes of a body that explains an error; the rest of it is not read."""
LINE_LIMIT = 8_000_000
"""Bytes of one line of a stream, or of an answer that comes in one piece."""
PACKED = "dory-packed"
"""A header of a response that came compressed although nobody asked for that."""


def bound(response: httpx2.Response) -> None:
    """Let the client read no more of a response than helps, and unpack none of it."""
    if response.headers.pop("content-encoding", "identity") != "identity":
        response.headers[PACKED] = "yes"
    response.encoding = "utf-8"  # JSON is; what the header names may be no encoding of text at all
    response.stream = _Bounded(response)


class _Bounded(httpx2.SyncByteStream):
    """The bytes of ``response``; of one that reports an error only the beginning, and of a packed
    one nothing.
    """

    def __init__(self, response: httpx2.Response) -> None:
        self._stream = cast(httpx2.SyncByteStream, response.stream)
        self._failed = not response.is_success
        self._packed = PACKED in response.headers

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in () if self._packed else self._stream:
            yield piece
            size += len(piece)
            if self._failed and size > ERROR_LIMIT:
                return

    def close(self) -> None:
        """Release the connection."""
        self._stream.close()


def chunks(body: Iterable[bytes]) -> Iterator[object]:
    """Decode the JSON in a body: the chunks of a stream or, if the endpoint does not stream, the
    one answer.

    Only the ``data:`` lines of a stream count. Comments that keep the connection alive, names of
    events and garbage are passed over. Raises ``ValueError`` for data that is not JSON in UTF-8,
    and for a line of more than ``LINE_LIMIT`` bytes.
    """
    lines = _lines(body)
    first = next((line for line in lines if line), b"")
    if first.startswith(b"{"):
        whole = bytearray(first)
        for line in lines:
            whole += line
            _bound(whole)
        yield _decoded(whole)
        return
    for line in itertools.chain([first], lines):
        data = line.removeprefix(b"data:").strip() if line.startswith(b"data:") else b""
        if data.startswith(b"[DONE]"):
            return
        if data:
            yield _decoded(data)


def _lines(body: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a body, without white space at their ends, and without the byte order mark that
    a stream may begin with. The last one needs no newline.
    """
    line = bytearray()
    for piece in _unmarked(body):
        end, *others = piece.split(b"\n")
        line += end
        _bound(line)
        for other in others:
            yield bytes(line).strip()
            line = bytearray(other)
    yield bytes(line).strip()


def _unmarked(body: Iterable[bytes]) -> Iterator[bytes]:
    """A body without the byte order mark at its beginning, in however small pieces that comes."""
    pieces = iter(body)
    beginning = b""
    for piece in pieces:
        beginning += piece
        if len(beginning) >= len(codecs.BOM_UTF8):
            break
    yield beginning.removeprefix(codecs.BOM_UTF8)
    yield from pieces


def _bound(data: bytearray) -> None:
    if len(data) > LINE_LIMIT:
        raise ValueError(f"more than {LINE_LIMIT} bytes in one piece")


def _decoded(data: bytes | bytearray) -> object:
    try:
        return json.loads(data.decode())
    except RecursionError as error:
        raise ValueError("brackets within brackets without an end") from error
