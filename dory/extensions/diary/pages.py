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

from dory.errors import FormatError
from dory.storage import json_file
from dory.text import references

FOLDER, VERSION = "diary", 1
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
        about = ", ".join(filter(None, map(references.one_line, [self.at, f"at {self.place}" if self.place else "", self.mood])))
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
            elif not name.startswith(".") and not name.endswith("~"):  # which editors and desktops leave
                yield f"{FOLDER}/{references.one_line(name)} is no day of a diary: it must be named after a date, such as 2026-03-02.json"
        except FormatError as error:
            yield str(error)


def read(folder: Path, day: date) -> dict[str, Any] | None:
    """The file of ``day`` as it is, found to be sound; None when there is none. Raises ``FormatError``."""

    def sound(record: dict[str, Any]) -> dict[str, Any]:
        if record["date"] != str(day):
            raise ValueError("its date is another")
        if not isinstance(record["entries"], list):
            raise ValueError("its entries are no list")
        [as_entry(one) for one in record["entries"]]
        json.dumps(record, ensure_ascii=False).encode()
        return record

    name = f"{FOLDER}/{day}.json"
    try:
        return json_file.read(folder / f"{day}.json", VERSION, sound, "mend it, or put it back from a backup", name)
    except OSError as error:
        raise FormatError(f"{name} cannot be read ({error.strerror}): put it back from a backup") from error


def as_entry(one: dict[str, Any]) -> Entry:
    """Raises what ``documents`` maps for one that nobody can have meant so."""
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
