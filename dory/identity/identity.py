"""One identity on disk: ``agents/<self>/``, and the only way to change it.

    SOUL (a blob; its hash is <self>)   LIFE.md   MEMORY.md   context.md   state.json   lock   subs/   workspace/

``add`` and ``log`` collect what happened, ``commit`` makes it durable: the end of ``context.md``,
then ``state.json``, then LIFE. A kill before the second leaves the state before, a kill after it is
completed by ``resume``. ``new_epoch`` does the same for a context that was changed in its middle:
the new one is written beside the old, ``state.json`` names its epoch, and only then it takes the
old one's place.

Only the loop's thread may call anything here that writes.
"""

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dory.clock import Clock, minute
from dory.errors import FormatError
from dory.identity import context, life, state
from dory.identity.context import Context, Entry
from dory.storage import files
from dory.storage.blobs import Blobs
from dory.storage.rooms import LINKED, Rooms, is_id
from dory.text import formatting, references
from dory.text.prompt_files import MEMORY, template
from dory.types import Event

LIVE_DRAFT = 3600.0  # seconds: another agent may be writing a younger one
# lines in memory, and in the checksum of LIFE's end; an extension whose prompts show more has more
# kept
LIFE_KEPT = 64


class Identity:
    """The state of one identity in memory, as it stands on disk plus what was not committed yet.
    The caller holds its lock.
    """

    def __init__(self, home: Path, hash: str, now: Clock, secrets: Sequence[str] = ()) -> None:
        """Load it, completing what a crash left open; from now on ``secrets`` enter nothing of it.
        ``FormatError``, ``BlobError``: damage.
        """
        self.home = home
        self.hash = hash
        self.now = now
        self.redact = partial(formatting.redact, secrets=secrets)
        self.folder = home / "agents" / hash
        self.blobs = Blobs(home / "blobs", secrets)
        self.rooms = Rooms(home / "chats", secrets)
        self.soul = self.blobs.get(hash).body
        self.state = state.load(self.folder / "state.json")
        self.life = life.Life(self.folder / life.NAME, LIFE_KEPT)
        self.listeners: list[Callable[[Event], None]] = []
        self.damage = list[str]()
        self.repaired = list[str]()
        """What somebody else has done to its files, for ``repair`` to tell; the files that it
        wrote, for whoever keeps their versions.
        """
        self.uncommitted: list[Entry] = []
        """Entries that were added and are not on disk yet."""
        self.private = (
            frozenset[str]()
        )  # texts in its prompts that nothing may repeat which is made of them; see ``discretion``
        self._events = list[Event]()
        self._untold = list[Event]()
        self._settled = False
        files.sweep(self.folder)
        files.sweep(home / "blobs", LIVE_DRAFT)
        self._settle()
        self.life = life.Life(self.folder / life.NAME, LIFE_KEPT)
        if self.state.life_tail not in (None, self.life.check()):
            self.damage.append(
                "the newest lines of LIFE.md are not those that were written there: somebody else has changed them"
            )
        self.context = Context(self._load_context())

    @property
    def name(self) -> str:
        """What it is called in rooms."""
        return self.state.name

    @property
    def memory(self) -> str:
        """MEMORY.md as it is now; it may have been edited by hand."""
        return files.read_from(self.folder / MEMORY, 0).decode("utf-8", "replace")

    def tokens(self, characters: int) -> int:
        """Characters as tokens, by the ratio that the provider's own figures gave."""
        return round(characters / self.state.characters_per_token)

    def subscriptions(self) -> list[str]:
        """The rooms it is in: the symlinks in ``subs/``, in order of name. One whose name is no
        room id is not followed; the check tells.
        """
        with os.scandir(
            self.folder / "subs"
        ) as links:  # not a glob, which takes thrice as long: this is asked many times a second
            return sorted(
                name
                for link in links
                if link.is_symlink()
                and is_id(name := link.name.removesuffix(".md"))
                and name != link.name
            )

    def join(self, room: str) -> None:
        """Subscribe, beginning with what nobody has answered yet. The room is made if it is new,
        and new if its file was exchanged.
        """
        self.rooms.open(room, self.now())
        known = self.state.rooms.get(room, state.RoomState()).of(self.rooms.size(room))
        self.state.rooms[room] = known.entered(self.rooms.unanswered(room), self.rooms.end(room))
        # before the link: after a kill in between, a room left earlier would go on from there, with
        # its old commands
        self.commit()
        link = self.folder / "subs" / f"{room}.md"
        if not link.is_symlink():
            link.symlink_to(LINKED / link.name)
            files.sync_folder(link.parent)

    def leave(self, room: str) -> None:
        """Unsubscribe; the room stays, and so does how far it was heard."""
        (self.folder / "subs" / f"{room}.md").unlink(missing_ok=True)
        files.sync_folder(self.folder / "subs")

    def text(self, name: str) -> str:
        """SEGMENT.md or SUMMARISE.md: its own copy if it has one, else the template."""
        own = self.folder / name
        return self.redact(
            own.read_text(encoding="utf-8", errors="replace")
            if own.exists()
            else template(self.home, name)
        )

    def text_reference(self, name: str) -> str:
        """A stable reference to such a text: stashed again only when the text has changed."""
        body, known = self.text(name), self.state.texts
        gist = formatting.one_line(body.partition("\n")[0])
        if name not in known or self.blobs.get(known[name]).body != body:
            known[name] = self.blobs.stash(body, kind="text", gist=gist, at=self.now())
        return references.reference(known[name], gist)

    def begin(self, why: str = "You were resumed.") -> None:
        """A new epoch for the boot or the resume, told to the agent."""
        booted = f"You were booted. You are in the room {', '.join(self.subscriptions())}."
        self.notice(
            f"{why} What was said in your rooms meanwhile follows." if self.state.epoch else booted
        )
        self.new_epoch()

    def wake(self, entry: int) -> None:
        """Something came in from outside, with the entry of that id: the agent has to answer, and
        its turns in a row are counted anew.
        """
        self.state.woke_at = self.state.woke_at if self.state.awake else entry
        self.state.awake, self.state.streak = True, 0

    def add(self, kind: str, about: str, body: str) -> Entry:
        """Add an entry at the end of the context; ``body`` is already escaped."""
        entry = Entry(
            self.state.next_id, self.state.next_id, kind, self.redact(about), self.redact(body)
        )
        self.state.next_id += 1
        self.context.add(entry)
        self.uncommitted.append(entry)
        return entry

    def log(self, kind: str, text: str, ref: str | None = None) -> None:
        """Note an event for LIFE and for whoever listens."""
        self._events.append(Event(self.now(), kind, self.redact(text), ref))

    def notice(self, text: str) -> None:
        """Tell the agent something, in its context and in LIFE."""
        self.add("notice", minute(self.now()), references.escape(text))
        self.log("notice", text)

    def commit(self) -> None:
        """Make everything added and logged durable. May be repeated after an ``OSError``."""
        self._settle()
        added = context.render(self.uncommitted).encode("utf-8")
        files.write_at(self.folder / "context.md", self.state.context_bytes, added)
        self._record(
            self.state.context_bytes + len(added),
            zlib.crc32(added, self.state.context_check or 0),
            self.state.epoch,
        )

    def new_epoch(self) -> None:
        """Commit a context that was changed anywhere. The next prompt need not extend the one
        before.
        """
        self._settle()
        epoch = self.state.epoch + 1
        content = (context.heading(epoch) + self.context.text).encode("utf-8")
        files.replace(self.folder / "context.next.md", content)
        self._record(len(content), zlib.crc32(content), epoch)

    def _record(self, context_bytes: int, context_check: int, epoch: int) -> None:
        before, lines = self.state, "".join(map(life.line, self._events))
        after = replace(
            before,
            context_bytes=context_bytes,
            context_check=context_check,
            epoch=epoch,
            life_bytes=before.life_bytes + len(before.life_lines.encode()),
            life_lines=lines,
            life_check=None
            if before.life_check is None
            else zlib.crc32(lines.encode(), before.life_check),
            life_tail=self.life.check(lines),
        )
        state.save(self.folder / "state.json", after)
        self.state, self._settled = after, False
        self._untold += self._events
        self.uncommitted.clear()
        self._events.clear()
        self._settle()

    def _settle(self) -> None:
        """Complete what ``state.json`` names already: the epoch's file, the end of LIFE, whoever
        listens.
        """
        if not self._settled:
            beside = self.folder / "context.next.md"
            if beside.exists() and self._committed(beside.read_bytes()):
                os.rename(beside, self.folder / "context.md")
                files.sync_folder(self.folder)
            foreign = self.life.write(self.state.life_bytes, self.state.life_lines)
            self.life.remember(self.state.life_lines)
            self._settled = True
            if foreign:
                self.damage.append(
                    f"somebody else had written {len(foreign)} bytes into LIFE.md: they are in LIFE.md.torn now"
                )
        while self._untold:
            event = self._untold.pop(0)
            for listener in self.listeners:
                listener(event)

    def _committed(self, content: bytes) -> bool:
        """Whether ``state.json`` names ``content`` as the context."""
        return self.state.names(content) and context.read_epoch(content)[0] == self.state.epoch

    def _load_context(self) -> list[Entry]:
        path, size = self.folder / "context.md", self.state.context_bytes
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise FormatError(
                f"{path} is missing: put it back from a backup, or boot a new agent"
            ) from None
        _, text = context.read_epoch(content[:size])
        if not self._committed(content[:size]):
            raise FormatError(
                f"{path} is damaged, or not the one that state.json describes: put both back from the same backup"
            )
        if content[size:]:
            self.log(
                "recovered",
                f"{len(content) - size} bytes at the end of context.md that were not committed; they are in context.md.torn",
            )
            files.append(path.with_name("context.md.torn"), content[size:] + b"\n")
        return context.parse(text)
