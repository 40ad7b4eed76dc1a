"""The diary, ``agents/<self>/diary/``: one file for each day, such as ``2026-03-02.json``.

    {
     "version": 1,
     "date": "2026-03-02",
     "entries": [
      {"at": "09:14", "mood": "calm", "place": "home", "text": "Ada came back from Lisbon."}
     ]
    }

The agent writes the files, and people may read and edit them. A second write on a day adds an
entry; whatever else people have put into the file stays. A damaged file is named and left as it is.

The files are the truth. The index holds a document for each day, and one table the stamp that each
file had when it was indexed (its time and size):

    diary_page    the day, the stamp of its file, what is wrong with it

A file whose stamp has changed is indexed again by ``refresh``. Reading the stamps costs a system
call for each file, so ``looking`` gives that work to a thread beside the loop. What the agent
writes itself is known at once. A search opens no file and reads no stamp.
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

from dory import regular_files
from dory.errors import FormatError, ToolError
from dory.extensions.diary.reading import WORDS
from dory.search.index import Hit, Index
from dory.search.passages import Document
from dory.storage import files, json_file
from dory.storage.database import Store
from dory.storage.watched_files import FileStamp
from dory.text import formatting

FOLDER, VERSION = "diary", 1
KIND = "Diary"
TEXT_LIMIT = 4000
"""Characters of one entry."""
DAY_LIMIT = 20_000
"""Characters of all entries of a day."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS diary_page (day INTEGER PRIMARY KEY, look TEXT, damage TEXT)"
_NAME = re.compile(r"\d{4}-\d\d-\d\d\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """What was written at one time of a day.

    Only the text is sure to be there: people may have removed the other fields from the file.
    """

    text: str
    at: str = ""
    mood: str = ""
    place: str = ""

    def __str__(self) -> str:
        """The entry as it is shown and searched.

        Its text is indented, so that no line of it can pass for another entry.
        """
        place = f"at {self.place}" if self.place else ""
        about = [formatting.one_line(part, WORDS) for part in (self.at, place, self.mood)]
        heading = ", ".join(part for part in about if part)
        return "\n  ".join([heading or "at some time", *self.text.splitlines()])


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the diary of the agent in ``folder``, one line a file, for the check."""
    try:
        names = sorted(os.listdir(folder / FOLDER)) if os.path.lexists(folder / FOLDER) else []
    except OSError as error:
        yield (
            f"{FOLDER}/ cannot be listed ({error.strerror}): it must be a folder that Dory may read"
        )
        return
    for name in names:
        day = day_of(name)
        if day:
            try:
                read_day(folder / FOLDER, day)
            except FormatError as error:
                yield str(error)
        elif not name.startswith(".") and not name.endswith("~"):  # left by editors and desktops
            yield (
                f"{FOLDER}/{formatting.one_line(name)} is no day of a diary: "
                "it must be named after a date, such as 2026-03-02.json"
            )


def read_day(folder: Path, day: date) -> dict[str, Any] | None:
    """The checked content of the file of ``day``; None if there is none. Raises ``FormatError``."""

    def sound(record: dict[str, Any]) -> dict[str, Any]:
        if record["date"] != str(day):
            raise ValueError("its date is another")
        if not isinstance(record["entries"], list):
            raise ValueError("its entries are no list")
        for fields in record["entries"]:
            as_entry(fields)
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


def as_entry(fields: dict[str, Any]) -> Entry:
    """The entry with these fields.

    Raises what ``storage/json_file.py`` turns into a ``FormatError`` if they are no entry.
    """
    entry = Entry(
        fields["text"], fields.get("at", ""), fields.get("mood", ""), fields.get("place", "")
    )
    if {type(value) for value in asdict(entry).values()} != {str}:
        raise ValueError("an entry is no text")
    return entry


def day_of(name: str) -> date | None:
    """The day whose file has that name; None if no day has."""
    try:
        return date.fromisoformat(name.removesuffix(".json")) if _NAME.fullmatch(name) else None
    except ValueError:
        return None


class Diary:
    """The diary of the agent in ``folder``.

    Raises ``FormatError`` if a file is damaged, and a ``ToolError`` if something cannot be done.
    """

    kinds: tuple[str, ...] = (KIND,)

    def __init__(self, folder: Path, store: Store, index: Index) -> None:
        self._folder = folder / FOLDER
        self._store = store
        self._index = index
        self._seen: dict[int, str] | None = None
        """The stamps of the files when they were last read; None if they were not read yet."""
        self._taken: dict[int, str] | None = None
        """The stamps in the table, read again if the database was exchanged."""
        self._written = dict[int, str]()
        """Stamps of what the agent wrote since ``looking`` was called, which may have missed it."""
        store.tables(_SCHEMA)

    def write(self, entry: Entry, day: date) -> int:
        """Add ``entry`` to ``day``; returns how many entries the day has now.

        It is durable when this returns; ``refresh`` indexes it.
        """
        if not entry.text.strip():
            raise ToolError(
                "nothing to write: WRITE_DIARY <text>, or several lines between <<END and END"
            )
        if len(entry.text) > TEXT_LIMIT:
            raise ToolError(
                f"that has {len(entry.text)} characters, an entry may have {TEXT_LIMIT}: "
                "shorten it, or make two of it"
            )
        record = read_day(self._folder, day) or {
            "version": VERSION,
            "date": str(day),
            "entries": [],
        }
        size = sum(len(written["text"]) for written in record["entries"]) + len(entry.text)
        if size > DAY_LIMIT:
            raise ToolError(
                f"{day} would have {size} characters in your diary, a day may have {DAY_LIMIT}: "
                "keep the rest in a note"
            )
        record["entries"].append(
            {"at": entry.at, "mood": entry.mood, "place": entry.place, "text": entry.text}
        )
        regular_files.refuse_links(self._folder)
        if not self._folder.exists():
            self._folder.mkdir()
            files.sync_folder(self._folder.parent)
        content = f"{json.dumps(record, ensure_ascii=False, indent=1)}\n".encode("utf-8", "replace")
        # A resume removes what a kill leaves from the folder above.
        files.replace(self._folder / f"{day}.json", content, drafts=self._folder.parent)
        self._written[day.toordinal()] = _look((self._folder / f"{day}.json").lstat())
        return len(record["entries"])

    def entries(self, day: date) -> list[Entry]:
        """The entries of ``day``, in order; none if the day has no file."""
        record = read_day(self._folder, day)
        return [as_entry(fields) for fields in record["entries"]] if record else []

    def days(self) -> list[date]:
        """All days that have a file, in order. No file is opened."""
        return sorted(map(date.fromordinal, self._looks()))

    @property
    def newest(self) -> date | None:
        """The newest day of which a file is known. Costs no look at the files but the first."""
        if self._seen is None:
            self.saw(self.looking()())
        days = {**(self._seen or {}), **self._written}
        return date.fromordinal(max(days)) if days else None

    def looking(self) -> Callable[[], dict[int, str]]:
        """A function for any thread that reads the stamps of all files, to be given to ``saw``."""
        self._seen = {**(self._seen or {}), **self._written}
        self._written = {}
        return self._looks

    def saw(self, looks: dict[int, str]) -> None:
        """Take the stamps of the files, by day."""
        self._seen = looks

    def changed(self) -> list[int]:
        """The days whose files have changed since they were indexed, newest first.

        The first call reads the stamps of all files.
        """
        if self._seen is None:
            self.saw(self.looking()())
        (held,) = self._store.rows("SELECT count(*), max(look) FROM diary_page")
        taken = self._taken
        if taken is None or held != (len(taken), max(taken.values(), default=None)):
            # not read yet, or the database was exchanged
            taken = dict[int, str](self._store.rows("SELECT day, look FROM diary_page"))
            self._taken = taken
        seen = {**(self._seen or {}), **self._written}
        days = [
            day for day in seen.keys() | taken.keys() if seen.get(day, "") != taken.get(day, "")
        ]
        return sorted(days, reverse=True)

    def search(self, words: str, limit: int) -> list[Hit]:
        """The ``limit`` best days, among those that ``refresh`` has indexed.

        The origin of a hit's document is ``date.toordinal()``.
        """
        return self._index.search(words, limit, self.kinds)

    def refresh(self, limit: int) -> int:
        """Index at most ``limit`` of the changed files, newest first; returns how many are left."""
        changed = self.changed()
        if not changed:
            return 0
        seen = {**(self._seen or {}), **self._written}
        with self._store.writing() as connection:
            for day in changed[:limit]:
                self._take(connection, day, seen.get(day))
        taken = {day: seen.get(day, "") for day in changed[:limit]}
        self._taken = {**(self._taken or {}), **taken}
        return len(changed[limit:])

    def damage(self) -> list[str]:
        """What is wrong with the damaged files, newest first."""
        sql = "SELECT damage FROM diary_page WHERE damage <> '' ORDER BY day DESC"
        return [damage for (damage,) in self._store.rows(sql)]

    def documents(self) -> Iterator[Document]:
        """All that has to be in the index: every day whose file is not damaged."""
        for day in self.days():
            with suppress(FormatError):  # ``refresh`` names it
                yield from self._document(day)

    def way(self, kind: str, origin: int) -> str:
        """The tool line that shows the full text of a hit; empty if the day is gone."""
        day = date.fromordinal(origin)
        exists = (self._folder / f"{day}.json").exists()
        return f"SHOW_DIARY_ENTRIES_FROM_DAY {day}" if exists else ""

    def heard_in(self, kind: str, origin: int) -> list[str]:
        """None: a day may tell of any room."""
        return []

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
        """The stamp of each file, by its day; an edit changes it."""
        try:
            with os.scandir(self._folder) as files_there:
                named = [(file, day_of(file.name)) for file in files_there]
                looks = [(day, file.stat(follow_symlinks=False)) for file, day in named if day]
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return {day.toordinal(): _look(look) for day, look in looks}


def _look(found: os.stat_result) -> str:
    stamp = FileStamp.of(found)
    return f"{stamp.modified} {stamp.size}"
