"""A home of any age, made in minutes: residents whose LIFE, room, blobs, index and ``usage.jsonl``
are as long as years make them.

All of it is written in the house's own formats, and ``state.json`` holds its checksums, so a resume
finds nothing to complain of. What is in front of the model came in by the house's own doors:
stretches that faded, with their archives, then what was heard and said, and all of that is indexed;
every line of the room is recorded as a conversation. The index also holds an entry for each line of
LIFE before that, as long and in such words as those of ``bench.store``: it is made once, and copied
for each resident. No blob holds those entries, so a search that finds them does not look up the way
to them.
"""

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.store.growth import AT_ONCE, CHARACTERS
from bench.store.noise import Noise
from dory import clock
from dory.clock import utc
from dory.config.prices import Price
from dory.extensions import Stores
from dory.extensions.cascade.life_reader import BEGINNING, LifeReader
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.store import Summaries, Summary
from dory.extensions.notes.archives import Archives
from dory.extensions.people.conversations_extension import ConversationsExtension
from dory.extensions.recall.life_index import Cursor, LifeBatch
from dory.identity import context, life, state
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.database import NAME, Store
from dory.text import references
from dory.types import Compacted

ROOM, PERSON = "dev", "ada"
SUMMARIES = 20
"""Stretches that stand in the context faded."""
HEARD, SAID = 300, 500
"""Characters of what a person said, and of a response."""
LINE = 70
"""Characters of a line in the room, and of what a person says while it is measured: in the words of
the index, so that a search has work.
"""
PRICE, LIMIT = Price(prompt=0.66, cached=0.022, completion=1.98), 1_000_000.0
"""What every call costs, and a limit of dollars an hour and a day that is never reached: the budget
counts as it does below any limit.
"""
_BEGAN = datetime(2016, 1, 1, 9, tzinfo=UTC)
_FRONT = (
    '---\ndory: blob 1\nkind: result\nat: 2016-01-01T09:00:00.000000Z\ngist: "SAY dev"\n'
    "parent: null\n---\nsaid in dev, "
)


class Home:
    """A home in which blobs and room grow to a size; ``settle`` adds a resident that has lived as
    long.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._size = 0
        self._noise = Noise(1)
        self._said = [self._noise.text(LINE) for _ in range(1000)]
        self._past = folder / "past.sqlite"
        boot(folder, "first", ROOM, utc)  # the folders

    def grow(self, size: int) -> None:
        """Go on until there are ``size`` blobs and entries in the index, and half as many lines in
        the room.
        """
        self._index(size)
        for shelf in range(256):
            (self.folder / "blobs" / f"{shelf:02x}").mkdir(exist_ok=True)
        for number in range(self._size, size):
            content = f"{_FRONT}{number}".encode()
            hash = hashlib.sha256(content).hexdigest()[:16]
            fd = os.open(
                f"{self.folder}/blobs/{hash[:2]}/{hash}.md", os.O_WRONLY | os.O_CREAT, 0o666
            )
            os.write(fd, content)
            os.close(fd)
        with open(self.folder / "chats" / f"{ROOM}.md", "a", encoding="utf-8") as room:
            lines = range(self._size // 2, size // 2)
            room.writelines(
                f"[USER:{PERSON} {clock.second(_at(number))}] {self._said[number % 1000]}\n"
                for number in lines
            )
        self._size = size

    def settle(self, tokens: int) -> str:
        """A new resident with ``tokens`` in its context; its hash."""
        hash = boot(self.folder, "old", ROOM, utc)
        me = Identity(self.folder, hash, utc)
        shutil.copyfile(self._past, me.folder / NAME)
        me.state.next_id = self._size + 1
        me.state.turn = me.state.epoch = self._size // 3 + 1
        me.state.rooms[ROOM] = state.RoomState(me.rooms.end(ROOM), me.rooms.end(ROOM))
        self._remember(me, tokens)
        me.new_epoch()
        (me.folder / usage_log.NAME).write_text("".join(_calls(self._size // 3)), encoding="utf-8")
        self._lengthen(me)
        _sum_up(me)
        return hash

    def _index(self, size: int) -> None:
        store = Store(self._past)
        index = Index(store)
        for begun in range(self._size, size, AT_ONCE):
            with store.writing():
                for number in range(begun, min(begun + AT_ONCE, size)):
                    index.add(
                        Document(
                            "heard",
                            number + 1,
                            _at(number),
                            self._noise.text(CHARACTERS),
                            PERSON,
                            ROOM,
                        )
                    )
        store.tidy()
        store.close()

    def _remember(self, me: Identity, tokens: int) -> None:
        past = Stores(me.folder, me.blobs)
        archives = Archives(past.store, past.notes)
        past.chronicle.add(LifeBatch([], Cursor(self._size, ROOM, utc()), []))
        for _ in range(SUMMARIES):
            heard = me.add(
                "heard",
                ROOM,
                references.escape(
                    f"[USER:{PERSON} {clock.second(utc())}] {self._noise.text(HEARD)}"
                ),
            )
            gist, summary = self._noise.text(60), self._noise.text(HEARD)
            stretch = me.blobs.stash(context.render([heard]), kind="context", gist=gist, at=utc())
            me.context.replace(
                [heard], [context.compacted(heard.first, heard.last, stretch, gist, summary)]
            )
            archives.keep(Compacted(heard.first, heard.last, stretch, gist, summary, 5), utc())
        while me.tokens(me.context.characters) < tokens:
            me.add(
                "heard", ROOM, f"[USER:{PERSON} {clock.second(utc())}] {self._noise.text(HEARD)}"
            )
            me.add("response", clock.minute(utc()), self._noise.text(SAID))
        archives.marked()
        past.chronicle.index_all(me.context.entries, me.blobs, me.name)
        conversations = ConversationsExtension(me, past.dialogues, (), cared=False)
        while work := conversations.background():
            work()()
        past.store.close()

    def _lengthen(self, me: Identity) -> None:
        """As many lines of LIFE as there are blobs, before those that are there."""
        path, written = (
            me.folder / "LIFE.md",
            (me.folder / "LIFE.md").read_text(encoding="utf-8").removeprefix(life.HEADING),
        )
        with open(path, "w", encoding="utf-8") as file:
            file.write(life.HEADING)
            file.writelines(
                f"{clock.minute(_at(number))} heard {ROOM} {PERSON}: {self._said[number % 1000]}\n"
                for number in range(self._size)
            )
            file.write(written)
        content = path.read_bytes()
        me.state.life_bytes, me.state.life_lines, me.state.life_check = (
            len(content),
            "",
            zlib.crc32(content),
        )
        me.state.life_tail = life.Life(path, 64).check()
        state.save(me.folder / "state.json", me.state)


def _sum_up(me: Identity) -> None:
    """As the cascade leaves a life that was long when it was switched on."""
    moments, window = LifeReader(me.life.path), Windows()
    count = moments.count(BEGINNING.end, me.state.life_bytes)
    if window.reached(0, count):
        place = moments.find(window.reached(0, count) - window.immediate)
        Summaries(me.folder).save(
            None, Summary(1, place, utc().replace(microsecond=0), "metronome", "So it went.")
        )


def _calls(count: int) -> Iterator[str]:
    """One a minute up to now."""
    now = utc()
    for left in range(count, 0, -1):
        call = {
            "purpose": "turn",
            "model": "m",
            "prompt": 9000,
            "cached": 8000,
            "completion": 90,
            "seconds": 1.0,
            "dollars": 0.001,
        }
        yield json.dumps({"v": 2, "at": clock.second(now - timedelta(minutes=left)), **call}) + "\n"


def _at(number: int) -> datetime:
    return _BEGAN + timedelta(minutes=number)
