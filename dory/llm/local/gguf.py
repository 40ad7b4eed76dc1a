"""What the head of a GGUF file says of its model: how long a text it was trained on, and how much
memory a token of the context takes. Anything may stand in such a file, so no number is believed
before it was compared with the size of the file.

The format is described in the repository of ggml, https://github.com/ggml-org/ggml
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dory import regular_files
from dory.errors import ConfigError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_TEXT, _ARRAY = 8, 9
_FORMATS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_MOST_ENTRIES = 10_000
_MOST_ITEMS = 2_000_000
"""Of an array, such as the words of a vocabulary."""
_KEPT_ITEMS = 1_000
"""Numbers of an array that are kept: one for each layer."""
_HALF = 2
"""Bytes of a number of the cache."""


@dataclass(frozen=True)
class Model:
    """A model in a file. ``window``: tokens that it was trained on; ``token``: bytes that the
    server keeps of each token of the context; ``size``: bytes of the file.
    """

    size: int
    window: int
    token: int


def read(path: Path) -> Model:
    """The model in a file. Raises ``ConfigError`` if there is none."""
    try:
        with regular_files.opened(path) as file:
            size = file.seek(0, 2)
            file.seek(0)
            values = dict(_entries(file, size))
    except FileNotFoundError:
        raise ConfigError(f"there is no file {path}: give the path of a .gguf file") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, struct.error):
        raise ConfigError(
            f"{path} is no model in the GGUF format, or only a part of one: download it again"
        ) from None
    return Model(size, *_sizes(values))


def _sizes(values: Mapping[str, object]) -> tuple[int, int]:
    architecture = values.get("general.architecture")

    def number(name: str, default: int = 0) -> int:
        value = values.get(f"{architecture}.{name}")
        return value if type(value) is int and value > 0 else default

    layers, width, heads = (
        number("block_count", 1),
        number("embedding_length"),
        number("attention.head_count", 1),
    )
    head = width // heads
    wide = number("attention.key_length", head) + number("attention.value_length", head)
    each = values.get(f"{architecture}.attention.head_count_kv")
    if isinstance(each, list):  # each layer has its own number
        all_heads = sum(count for count in each if type(count) is int and count > 0)
    else:
        all_heads = layers * number("attention.head_count_kv", heads)
    return number("context_length"), all_heads * wide * _HALF


def _entries(file: BinaryIO, size: int) -> Iterator[tuple[str, object]]:
    """The names and values of the head. Raises ``ValueError`` or ``struct.error``."""
    if file.read(4) != _MAGIC:
        raise ValueError
    version, _, count = _numbers(file, "IQQ")
    if version not in _VERSIONS or count > _MOST_ENTRIES:
        raise ValueError
    for _ in range(count):
        yield _text(file, size), _value(file, size, *_numbers(file, "I"))


def _value(file: BinaryIO, size: int, kind: int) -> object:
    if kind == _TEXT:
        return _text(file, size)
    if kind != _ARRAY:
        return _numbers(file, _format(kind))[0]
    kind, count = _numbers(file, "IQ")
    if count > _MOST_ITEMS:
        raise ValueError
    if kind == _TEXT:
        for _ in range(count):
            _skip(file, size, *_numbers(file, "Q"))
        return None
    length = struct.calcsize(f"<{_format(kind)}")
    if count > _KEPT_ITEMS:
        _skip(file, size, count * length)
        return None
    return list(_numbers(file, _format(kind) * count))


def _format(kind: int) -> str:
    if kind not in _FORMATS:
        raise ValueError
    return _FORMATS[kind]


def _text(file: BinaryIO, size: int) -> str:
    (length,) = _numbers(file, "Q")
    if length > size:
        raise ValueError
    return file.read(length).decode("utf-8", "replace")


def _skip(file: BinaryIO, size: int, length: int) -> None:
    if length > size or file.seek(length, 1) > size:
        raise ValueError


def _numbers(file: BinaryIO, form: str) -> tuple[int, ...]:
    form = f"<{form}"
    return struct.unpack(form, file.read(struct.calcsize(form)))
