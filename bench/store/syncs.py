"""Counting what SQLite asks of the disk: every ``xSync`` of its VFS, which is one fsync or
fdatasync.

Python's sqlite3 does not tell. So SQLite is given a VFS that is its own but for ``xOpen``, which
replaces ``xSync`` in what it opened by one that counts first. Connections opened before ``count``
are not counted.
"""

import _sqlite3
import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
_OPEN = ctypes.CFUNCTYPE(
    _INT, _POINTER, _POINTER, _POINTER, _INT, _POINTER
)  # the path as a pointer: SQLite keeps it
_SYNC = ctypes.CFUNCTYPE(_INT, _POINTER, _INT)


class _Vfs(ctypes.Structure):
    """``sqlite3_vfs``, of which only these fields matter here; ``rest`` are further functions."""

    _fields_ = (
        ("version", _INT),
        ("file_size", _INT),
        ("path_length", _INT),
        ("next", _POINTER),
        ("name", ctypes.c_char_p),
        ("data", _POINTER),
        ("open", _OPEN),
        ("rest", _POINTER * 15),
    )


class _Methods(ctypes.Structure):
    """``sqlite3_io_methods``: what an open file can do."""

    _fields_ = (
        ("version", _INT),
        ("before", _POINTER * 4),
        ("sync", _SYNC),
        ("rest", _POINTER * 13),
    )


class Count:
    """How many syncs there were."""

    def __init__(self) -> None:
        self.syncs = 0


@contextmanager
def count() -> Iterator[Count]:
    """Count the syncs of all connections that are opened within the block. Raises
    ``AttributeError`` where SQLite cannot be reached so.
    """
    library: Any = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    usual, counted = library.sqlite3_vfs_find(None), Count()
    kept: dict[int, _Methods] = {}

    def sync(file: int, flags: int, own: Any) -> int:
        counted.syncs += 1
        return int(own(file, flags))

    def opened(_: int, path: int, file: int, flags: int, mode: int) -> int:
        failed = usual.contents.open(ctypes.addressof(usual.contents), path, file, flags, mode)
        methods = ctypes.cast(file, ctypes.POINTER(_POINTER))
        if address := methods[0]:
            if address not in kept:
                own = _Methods.from_address(address)
                mine = kept[address] = _Methods.from_buffer_copy(own)
                mine.sync = _SYNC(lambda file, flags: sync(file, flags, own.sync))
            methods[0] = ctypes.addressof(kept[address])
        return int(failed)

    vfs = _Vfs.from_buffer_copy(usual.contents)
    vfs.name, vfs.next, vfs.open = b"counting", None, _OPEN(opened)
    library.sqlite3_vfs_register(ctypes.byref(vfs), 1)
    try:
        yield counted
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(vfs))
        library.sqlite3_vfs_register(usual, 1)
