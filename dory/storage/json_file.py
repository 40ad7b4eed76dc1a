"""A small JSON file with a version, ``{"version": 1, …}``: read whole and found to be sound, or
refused by name.

What the other fields mean the room knows whose file it is. Such files are replaced as a whole and
never grow, so none is read under a lock.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from dory.errors import FormatError, UnknownVersion
from dory.storage.files import open_regular
from dory.text import formatting

Content = TypeVar("Content")


def read(
    path: Path,
    version: int,
    made: Callable[[dict[str, Any]], Content],
    mend: str,
    name: str = "",
    limit: int | None = 2**20,
) -> Content | None:
    """What ``made`` makes of the object in the file; None when there is no file. Raises
    ``FormatError`` for another version, for more than ``limit`` bytes, and for what ``made`` raises
    of an object that is another than it wants; that calls the file by its ``name``, else by its
    path, and says how to ``mend`` it. An ``OSError`` passes through.
    """
    name = name or str(path)
    try:
        with open(open_regular(path), "rb") as file:
            content = file.read(-1 if limit is None else limit + 1)
    except FileNotFoundError:
        return None
    try:
        if limit is not None and len(content) > limit:
            raise ValueError(f"it has more than {limit} bytes")
        record = json.loads(content)
        found = record["version"]
        if type(found) is not int or found != version:
            raise UnknownVersion(name, found, version)
        return made(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(
            f"{name} is damaged ({formatting.one_line(str(error))}): {mend}"
        ) from error
