"""One identity on disk: ``agents/<self>/``, and the only way to change it.

    SOUL (a blob; its hash is <self>)   LIFE.md   MEMORY.md   context.md   state.json   lock
    subs/   workspace/

``add`` and ``log`` collect what happened. ``commit`` makes it durable: first the end of
``context.md``, then ``state.json``, then LIFE. A kill before ``state.json`` leaves the earlier
state; after a kill behind it, loading the identity completes the commit. ``new_epoch`` does the
same for a context that was changed in its middle: the new one is written beside the old one,
``state.json`` names its epoch, and only then it replaces the old one.

Only the loop's thread may call what writes.
"""

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dory import regular_files
from dory.clock import Clock, minute
from dory.errors import FormatError
from dory.identity import context, generations, life, neighbours, room_position, state
from dory.identity import home as homes
from dory.identity.context import Context, Entry
from dory.storage import files, held, locks
from dory.storage.blobs import Blobs
from dory.storage.generation import Tie
from dory.storage.rooms import LINKED, Rooms, is_id
from dory.text import formatting, references
from dory.text.prompt_files import INSTRUCTIONS, MEMORY, template
from dory.text.redaction import redact
from dory.types import Event

LIVE_DRAFT = 3600.0
"""Seconds after which a draft is taken for what a kill has left; another agent may be writing a
younger one.
"""
ROOM_PATIENCE = 1.0
"""Seconds that the loop waits for a room that another program holds. What it has to say there may
wait, and other rooms should not.
"""
LIFE_KEPT = 64
"""Lines of LIFE that are kept in memory, and that the checksum of its end covers. An extension
whose prompts show more keeps more.
"""


class Identity:
    """One identity in memory: what is on disk, and what was not committed yet. The caller holds its
    lock.
    """

    def __init__(self, home: Path, hash: str, now: Clock, secrets: Sequence[str] = ()) -> None:
        """Load the identity, completing a commit that a kill interrupted. ``secrets`` are redacted
        from whatever is added to it. Raises ``FormatError`` or ``BlobError`` for damage.
        """
        self.home = home
        homes.refuse_links(home, hash)
        self.hash = hash
        self.now = now
        self.redact = partial(redact, secrets=secrets)
        self.folder = home / "agents" / hash
        self.blobs = Blobs(home / "blobs", secrets)
        self.rooms = Rooms(
            home / "chats", secrets, partial(neighbours.all_names, home), ROOM_PATIENCE
        )
        self.soul = self.blobs.get(hash).body
        self.state = state.load(self.folder / "state.json")
        generations.check(self.folder, self.state)
        self.tie = Tie(lambda: self.state.generation, self.state.memory_changes)
        """For the ``Store`` of its SQLite file, whose commits the state counts."""
        self.life = life.Life(self.folder / life.NAME, LIFE_KEPT)
        self.listeners: list[Callable[[Event], None]] = []
        self.damage = list(filter(None, [generations.missing(self.folder, self.state)]))
        """What others have done to its files; ``repair`` reports it."""
        self.repaired = list[str]()
        """Files that ``repair`` wrote, for the extension that keeps their versions."""
        self.uncommitted: list[Entry] = []
        """Entries that were added and are not on disk yet."""
        self._events = list[Event]()
        """Events that are not committed yet."""
        self._unannounced = list[Event]()
        """Committed events that the listeners have not been given yet."""
        self._completed = False
        """Whether everything that ``state.json`` names has been done."""
        files.sweep(self.folder)
        files.sweep(home / "blobs", LIVE_DRAFT)
        self._complete()
        self.life = life.Life(self.folder / life.NAME, LIFE_KEPT)
        self._check_life()
        self.context = Context(self._load_context())

    def _check_life(self) -> None:
        if self.state.life_tail not in (None, self.life.check()):
            self.damage.append(
                "the newest lines of LIFE.md are not those that were written there: somebody else"
                " has changed them"
            )

    @property
    def name(self) -> str:
        """Its name in rooms."""
        return self.state.name

    @property
    def memory(self) -> str:
        """MEMORY.md as it is now. People may edit it."""
        return files.read_from(self.folder / MEMORY, 0).decode("utf-8", "replace")

    def tokens(self, characters: int) -> int:
        """Convert characters to tokens, by the ratio in the provider's own figures."""
        return round(characters / self.state.characters_per_token)

    def subscriptions(self) -> list[str]:
        """The rooms it is in: the symlinks in ``subs/``, in order of name. A link whose name is no
        room id is not followed; ``clean.py --check`` reports it.
        """
        held.check()  # an idle agent stops, too, when its folder is not its own any more
        rooms: list[str] = []
        # not a glob, which takes three times as long: this is called many times a second
        with os.scandir(self.folder / "subs") as links:
            for link in links:
                room = link.name.removesuffix(".md")
                if link.is_symlink() and is_id(room) and room != link.name:
                    rooms.append(room)
        return sorted(rooms)

    def join(self, room: str) -> None:
        """Subscribe to a room, beginning with what nobody has answered yet. The room is created if
        it is new.
        """
        self.rooms.open(room, self.now())
        known = self.state.rooms.get(room, state.RoomState())
        if not room_position.stands(self.rooms, room, known):
            known, _ = room_position.moved(self.rooms, room, known)
        self.state.rooms[room] = room_position.entered(self.rooms, room, known)
        # The commit comes before the symlink. Otherwise, after a kill in between, a room that was
        # left earlier would be read on from there, and its old commands would be run.
        self.commit()
        link = self.folder / "subs" / f"{room}.md"
        if not link.is_symlink():
            link.symlink_to(LINKED / link.name)
            self._sync(link, undo=link.unlink)

    def leave(self, room: str) -> None:
        """Unsubscribe. The room stays, and the state keeps how far it was read."""
        link = self.folder / "subs" / f"{room}.md"
        link.unlink(missing_ok=True)
        self._sync(link, undo=lambda: link.symlink_to(LINKED / link.name))

    @staticmethod
    def _sync(link: Path, undo: Callable[[], None]) -> None:
        """What fails is taken back: the agent is told that it had no effect."""
        try:
            files.sync_folder(link.parent)
        except OSError:
            undo()
            raise

    def text(self, name: str) -> str:
        """Return SEGMENT.md or SUMMARISE.md: its own copy if it has one, else the template."""
        own = self.folder / name
        if own.exists():
            return self.redact(regular_files.content(own).decode("utf-8", "replace"))
        return self.redact(template(self.home, name))

    def text_reference(self, name: str) -> str:
        """Return a reference to such a text. It stays the same as long as the text does."""
        body = self.text(name)
        known = self.state.texts
        gist = INSTRUCTIONS[name]
        if name not in known or self.blobs.get(known[name]).body != body:
            known[name] = self.blobs.stash(body, kind="text", gist=gist, at=self.now())
        return references.reference(known[name], gist)

    def begin(self, why: str = "You were resumed.") -> None:
        """Begin a new epoch for a boot or a resume, and tell the agent."""
        if self.state.epoch:
            self.notice(f"{why} What was said in your rooms meanwhile follows.")
        else:
            rooms = formatting.named(self.subscriptions())
            self.notice(f"You were booted. You are in the room {rooms}.")
        self.new_epoch()

    def wake(self, entry: int) -> None:
        """Note that the entry with this id came from outside: the agent has to answer, and its
        turns in a row are counted anew.
        """
        if not self.state.awake:
            self.state.woke_at = entry
        self.state.awake = True
        self.state.streak = 0

    def add(self, kind: str, about: str, body: str) -> Entry:
        """Add an entry at the end of the context. ``body`` is already escaped."""
        id = self.state.next_id
        entry = Entry(id, id, kind, self.redact(about), self.redact(body))
        self.state.next_id += 1
        self.context.add(entry)
        self.uncommitted.append(entry)
        return entry

    def log(self, kind: str, text: str, ref: str | None = None) -> None:
        """Note an event, for LIFE and for the listeners."""
        self._events.append(Event(self.now(), kind, self.redact(text), ref))

    def original(self, kind: str, text: str) -> str | None:
        """Keep the ``text`` of an event that a line of LIFE cannot hold as a blob; its hash, or
        None if the line holds all of it. To be called before the event is added or logged.
        """
        text = self.redact(text)
        if life.holds(kind, text):
            return None
        return self.blobs.stash(text, kind=kind, gist=text, at=self.now())

    def notice(self, text: str) -> None:
        """Tell the agent something, in its context and in LIFE."""
        self.add("notice", minute(self.now()), references.escape(text))
        self.log("notice", text)

    def commit(self) -> None:
        """Make everything durable that was added and logged. May be repeated after an
        ``OSError``.
        """
        held.check()
        with locks.committing(self.folder):
            self._complete()
            added = context.render(self.uncommitted).encode("utf-8")
            files.write_at(self.folder / "context.md", self.state.context_bytes, added)
            self._record(
                self.state.context_bytes + len(added),
                zlib.crc32(added, self.state.context_check or 0),
                self.state.epoch,
            )

    def new_epoch(self) -> None:
        """Commit a context that was changed anywhere. The next prompt need not extend the previous
        one.
        """
        held.check()
        with locks.committing(self.folder):
            self._complete()
            epoch = self.state.epoch + 1
            content = (context.heading(epoch) + self.context.text).encode("utf-8")
            files.replace(self.folder / "context.next.md", content)
            self._record(len(content), zlib.crc32(content), epoch)

    def _record(self, context_bytes: int, context_check: int, epoch: int) -> None:
        before = self.state
        lines = "".join(life.line(event) for event in self._events)
        life_check = before.life_check
        if life_check is not None:
            life_check = zlib.crc32(lines.encode(), life_check)
        after = replace(
            before,
            context_bytes=context_bytes,
            context_check=context_check,
            epoch=epoch,
            life_bytes=before.life_bytes + len(before.life_lines.encode()),
            life_lines=lines,
            life_check=life_check,
            life_tail=self.life.check(lines),
            memory_changes=self.tie.changes,
        )
        state.save(self.folder / "state.json", after)
        self.state = after
        self._completed = False
        self._unannounced += self._events
        self.uncommitted.clear()
        self._events.clear()
        self._complete()

    def _complete(self) -> None:
        """Do what ``state.json`` already names: rename the epoch's file, write the end of LIFE, and
        call the listeners.
        """
        if not self._completed:
            next_context = self.folder / "context.next.md"
            if next_context.exists() and self._committed(regular_files.content(next_context)):
                os.rename(next_context, self.folder / "context.md")
                files.sync_folder(self.folder)
            foreign = self.life.write(self.state.life_bytes, self.state.life_lines)
            self.life.remember(self.state.life_lines)
            self._completed = True
            if foreign:
                self.damage.append(
                    f"somebody else had written {len(foreign)} bytes into LIFE.md: they are in"
                    " LIFE.md.torn now"
                )
        while self._unannounced:
            event = self._unannounced.pop(0)
            for listener in self.listeners:
                listener(event)

    def _committed(self, content: bytes) -> bool:
        """Whether ``state.json`` names ``content`` as the context."""
        return self.state.names(content) and context.read_epoch(content)[0] == self.state.epoch

    def _load_context(self) -> list[Entry]:
        path = self.folder / "context.md"
        size = self.state.context_bytes
        try:
            content = regular_files.content(path)
        except FileNotFoundError:
            raise FormatError(
                f"{path} is missing: put it back from a backup, or boot a new agent"
            ) from None
        _, text = context.read_epoch(content[:size])
        if not self._committed(content[:size]):
            raise FormatError(
                f"{path} is damaged, or not the one that state.json describes: put both back from"
                " the same backup"
            )
        if content[size:]:
            self.log(
                "recovered",
                f"{len(content) - size} bytes at the end of context.md that were not committed;"
                " they are in context.md.torn",
            )
            files.append(path.with_name("context.md.torn"), content[size:] + b"\n")
        return context.parse(text)
