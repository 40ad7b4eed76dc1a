"""One day of the diary as a file, which people may edit: read, found to be sound, or named with what is wrong with it.

{
 "version": 1,
 "date": "2026-03-02",
 "entries": [
  {"at": "09:14", "mood": "calm", "place": "home", "text": "Ada came back from Lisbon."}
 ]
}
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dory import files, refs
from dory.errors import FormatError

FOLDER, VERSION = "diary", 1
_FILE_LIMIT = 2**20  # bytes; more is no day's diary
_NAME = re.compile(r"\d{4}-\d\d-\d\d\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """What was written at one time of a day. In a file that somebody has edited all but the text may be missing."""

    text: str
    at: str = ""
    mood: str = ""
    place: str = ""

    def __str__(self) -> str:
        """As it is shown and searched: what it says is indented, so that no line of it can be taken for another entry."""
        about = ", ".join(filter(None, map(refs.one_line, [self.at, f"at {self.place}" if self.place else "", self.mood])))
        return "\n  ".join([about or "at some time", *self.text.splitlines()])


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the diary of the agent in ``folder``, one line a file, for the check."""
    try:
        names = sorted(os.listdir(folder / FOLDER)) if os.path.lexists(folder / FOLDER) else []
    except OSError as error:
        yield f"{FOLDER}/ cannot be listed ({error.strerror}): it must be a folder that Dory may read"
        return
    for name in names:
        try:
            if day := day_of(name):
                read(folder / FOLDER, day)
            else:
                yield f"{FOLDER}/{refs.one_line(name)} is no day of a diary: it must be named after a date, such as 2026-03-02.json"
        except FormatError as error:
            yield str(error)


def read(folder: Path, day: date) -> dict[str, Any] | None:
    """The file of ``day`` as it is, found to be sound; None when there is none."""
    path, shown = folder / f"{day}.json", f"{FOLDER}/{day}.json"
    try:
        content = files.read_from(path, 0, _FILE_LIMIT + 1)
    except OSError as error:
        raise FormatError(f"{shown} cannot be read ({error.strerror}): put it back from a backup") from error
    if not content and not path.exists():
        return None
    try:
        if len(content) > _FILE_LIMIT:
            raise ValueError(f"it has more than {_FILE_LIMIT} bytes")
        record: dict[str, Any] = json.loads(content)
        if type(version := record["version"]) is not int or version != VERSION:
            raise FormatError(f"{shown} is of version {str(version)[:20]!r}, this Dory reads {VERSION}: update Dory")
        if record["date"] != str(day):
            raise ValueError("its date is another")
        if not isinstance(record["entries"], list):
            raise ValueError("its entries are no list")
        [as_entry(one) for one in record["entries"]]
        json.dumps(record, ensure_ascii=False).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"{shown} is damaged ({refs.one_line(str(error))}): mend it, or put it back from a backup") from error
    return record


def as_entry(one: dict[str, Any]) -> Entry:
    """Raises what ``read`` maps for one that nobody can have meant so."""
    entry = Entry(one["text"], one.get("at", ""), one.get("mood", ""), one.get("place", ""))
    if {type(value) for value in asdict(entry).values()} != {str}:
        raise ValueError("an entry is no text")
    return entry


def day_of(name: str) -> date | None:
    """The day whose file has that name."""
    try:
        return date.fromisoformat(name.removesuffix(".json")) if _NAME.fullmatch(name) else None
    except ValueError:
        return None
