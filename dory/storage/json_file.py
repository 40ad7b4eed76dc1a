"""Reading small JSON files with a version, ``{"version": 1, …}``: read as a whole, or refused with
an error that names the file.

The module whose file it is knows what the other fields mean. Such files are replaced as a whole and
do not grow, so they are read without a lock.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from dory import regular_files
from dory.errors import FormatError, UnknownVersion
from dory.text import formatting

Content = TypeVar("Content")


def read(
    path: Path,
    version: int,
    made: Callable[[dict[str, Any]], Content],
    remedy: str,
    name: str = "",
    limit: int | None = 2**20,
) -> Content | None:
    """Return what ``made`` makes of the object in the file; None if there is no file.

    Raises ``FormatError`` if the version is another, if the file has more than ``limit`` bytes, or
    if ``made`` raises because the object is not what it expects. The message calls the file by its
    ``name``, or by its path, and ends with the ``remedy``. An ``OSError`` passes through.
    """
    name = name or str(path)
    try:
        with regular_files.opened(path) as file:
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
            f"{name} is damaged ({formatting.one_line(str(error))}): {remedy}"
        ) from error
