"""The diary, ``agents/<self>/diary/``: one file a date (``extensions/diary/store.py``), for the
agent to write and for people to read and edit.

A second write on a day adds an entry; what people have put into the file beside that stays. The
files are the truth. The index has a document for each date, and a table of how each file looked
when it was indexed tells which ones have changed since: ``refresh`` takes these in. How they look
now costs a call of the system for each file: ``looking`` gives that to a thread beside the loop;
what the agent writes is known at once. A search opens no file and looks at none. One that is
damaged is named and left as it is.

    diary_page    the date, the look of its file, what is wrong with it

One day of the diary as a file, which people may edit: read, found to be sound, or named with what
is wrong with it.

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
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from dory.errors import FormatError, ToolError
from dory.search.index import Hit, Index
from dory.search.passages import Document
from dory.storage import files, json_file
from dory.storage.database import Store
from dory.storage.watched_files import FileStamp
from dory.text import formatting

FOLDER, VERSION = "diary", 1
_NAME = re.compile(r"\d{4}-\d\d-\d\d\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """What was written at one time of a day. In a file that somebody has edited all but the text
    may be missing.
    """

    text: str
    at: str = ""
    mood: str = ""
    place: str = ""

    def __str__(self) -> str:
        """As it is shown and searched: what it says is indented, so that no line of it can be taken
        for another entry.
        """
        about = ", ".join(
            filter(
                None,
                map(
                    formatting.one_line,
                    [self.at, f"at {self.place}" if self.place else "", self.mood],
                ),
            )
        )
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
                read_day(folder / FOLDER, day)
            elif not name.startswith(".") and not name.endswith(
                "~"
            ):  # which editors and desktops leave
                yield f"{FOLDER}/{formatting.one_line(name)} is no day of a diary: it must be named after a date, such as 2026-03-02.json"
        except FormatError as error:
            yield str(error)


def read_day(folder: Path, day: date) -> dict[str, Any] | None:
    """The file of ``day`` as it is, found to be sound; None when there is none. Raises
    ``FormatError``.
    """

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
        return json_file.read(
            folder / f"{day}.json", VERSION, sound, "mend it, or put it back from a backup", name
        )
    except OSError as error:
        raise FormatError(
            f"{name} cannot be read ({error.strerror}): put it back from a backup"
        ) from error


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


KIND = "Diary"
TEXT_LIMIT, DAY_LIMIT = 4000, 20_000
"""Characters of one entry, and of a day's."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS diary_page (day INTEGER PRIMARY KEY, look TEXT, damage TEXT)"


class Diary:
    """That of the agent in ``folder``. Raises ``FormatError`` for a damaged file, and a
    ``ToolError`` for what cannot be done.
    """

    kinds: tuple[str, ...] = (KIND,)

    def __init__(self, folder: Path, store: Store, index: Index) -> None:
        self._folder = folder / FOLDER
        self._store = store
        self._index = index
        self._seen: dict[int, str] | None = None
        """How the files looked last; None: not looked yet."""
        self._taken: dict[int, str] | None = None
        """What stands in the table, read anew when its file was exchanged."""
        self._written = dict[int, str]()
        """What the agent has written since ``looks`` was called, which may have passed it by."""
        store.tables(_SCHEMA)

    def write(self, entry: Entry, day: date) -> int:
        """Add ``entry`` to what stands there of ``day``; how many it has now. Durable when this
        returns; the search is told by ``refresh``.
        """
        if not entry.text.strip():
            raise ToolError(
                "nothing to write: WRITE_DIARY <text>, or several lines between <<END and END"
            )
        if len(entry.text) > TEXT_LIMIT:
            raise ToolError(
                f"that has {len(entry.text)} characters, an entry may have {TEXT_LIMIT}: shorten it, or make two of it"
            )
        record = read_day(self._folder, day) or {
            "version": VERSION,
            "date": str(day),
            "entries": [],
        }
        size = sum(len(one["text"]) for one in record["entries"]) + len(entry.text)
        if size > DAY_LIMIT:
            raise ToolError(
                f"{day} would have {size} characters in your diary, a day may have {DAY_LIMIT}: keep the rest in a note"
            )
        record["entries"].append(
            {"at": entry.at, "mood": entry.mood, "place": entry.place, "text": entry.text}
        )
        if not self._folder.exists():
            self._folder.mkdir()
            files.sync_folder(self._folder.parent)
        content = f"{json.dumps(record, ensure_ascii=False, indent=1)}\n".encode("utf-8", "replace")
        files.replace(
            self._folder / f"{day}.json", content, drafts=self._folder.parent
        )  # where a resume sweeps away what a kill leaves
        self._written[day.toordinal()] = _look((self._folder / f"{day}.json").lstat())
        return len(record["entries"])

    def entries(self, day: date) -> list[Entry]:
        """What stands there of ``day``, in order; nothing for a day without a file."""
        record = read_day(self._folder, day)
        return [as_entry(one) for one in record["entries"]] if record else []

    def days(self) -> list[date]:
        """All days that have a file, in order; none is opened."""
        return sorted(map(date.fromordinal, self._looks()))

    def looking(self) -> Callable[[], dict[int, str]]:
        """What looks at all files, for any thread, to be given to ``saw``."""
        self._seen, self._written = {**(self._seen or {}), **self._written}, {}
        return self._looks

    def saw(self, looks: dict[int, str]) -> None:
        """How the files look, by day."""
        self._seen = looks

    def changed(self) -> list[int]:
        """The days whose files look other than when they were indexed, the newest first; at the
        first time all files are looked at.
        """
        if self._seen is None:
            self.saw(self.looking()())
        (held,) = self._store.rows("SELECT count(*), max(look) FROM diary_page")
        if self._taken is None or held != (
            len(self._taken),
            max(self._taken.values(), default=None),
        ):  # else the store's file is another
            self._taken = dict[int, str](self._store.rows("SELECT day, look FROM diary_page"))
        seen, taken = {**(self._seen or {}), **self._written}, self._taken
        return sorted(
            (day for day in seen.keys() | taken.keys() if seen.get(day, "") != taken.get(day, "")),
            reverse=True,
        )

    def search(self, words: str, limit: int) -> list[Hit]:
        """The ``limit`` days that fit best, as far as ``refresh`` has come; the origin of a hit's
        document is ``date.toordinal()``.
        """
        return self._index.search(words, limit, self.kinds)

    def refresh(self, limit: int) -> int:
        """Take at most ``limit`` files in that have changed, as far as that was seen, the newest
        first; how many are left.
        """
        if changed := self.changed():
            seen = {**(self._seen or {}), **self._written}
            with self._store.writing() as connection:
                for day in changed[:limit]:
                    self._take(connection, day, seen.get(day))
            self._taken = {
                **(self._taken or {}),
                **{day: seen.get(day, "") for day in changed[:limit]},
            }
        return len(changed[limit:])

    def damage(self) -> list[str]:
        """What is wrong with files that were found to be damaged, the newest first."""
        return [
            damage
            for (damage,) in self._store.rows(
                "SELECT damage FROM diary_page WHERE damage <> '' ORDER BY day DESC"
            )
        ]

    def documents(self) -> Iterator[Document]:
        """All days, to be indexed anew; without damaged ones."""
        for day in self.days():
            with suppress(FormatError):  # ``refresh`` names it
                yield from self._document(day)

    def way(self, kind: str, origin: int) -> str:
        """How a day that was found is to be had; empty when it is gone."""
        day = date.fromordinal(origin)
        return (
            f"SHOW_DIARY_ENTRIES_FROM_DAY {day}" if (self._folder / f"{day}.json").exists() else ""
        )

    def _take(self, connection: sqlite3.Connection, day: int, look: str | None) -> None:
        self._index.remove(KIND, day)
        connection.execute("DELETE FROM diary_page WHERE day = ?", (day,))
        damage = ""
        try:
            for document in self._document(date.fromordinal(day)):
                self._index.add(document)
        except FormatError as error:
            damage = str(error)
        if look is not None:
            connection.execute("INSERT INTO diary_page VALUES (?, ?, ?)", (day, look, damage))

    def _document(self, day: date) -> Iterator[Document]:
        if entries := self.entries(day):
            at = datetime(day.year, day.month, day.day, tzinfo=UTC)
            yield Document(KIND, day.toordinal(), at, "\n\n".join(map(str, entries)))

    def _looks(self) -> dict[int, str]:
        """How each file looks from outside, by its day; what an edit changes."""
        try:
            with os.scandir(self._folder) as found:
                named = [(one, day_of(one.name)) for one in found]
                looks = [(day, one.stat(follow_symlinks=False)) for one, day in named if day]
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return {day.toordinal(): _look(look) for day, look in looks}


def _look(found: os.stat_result) -> str:
    stamp = FileStamp.of(found)
    return f"{stamp.modified} {stamp.size}"
