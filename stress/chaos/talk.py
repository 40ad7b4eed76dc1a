"""What people say and do in the rooms, and the ledger of what was acknowledged: a line stands there
once its append has returned.

What tells something holds a word that stands nowhere else, ``K<seed>-<number>``. All follows from
the seed alone, except the references that people name, which come from LIFE.
"""

import random
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from dory import clock
from dory.extensions.dream.versions import Versions
from dory.storage import files
from dory.storage.rooms import Rooms
from dory.text import references
from dory.text.prompt_files import USER
from stress.chaos.orders import ORDERS, ROOM, SECOND_ROOM

_THINGS = (
    "kettle",
    "ladder",
    "compass",
    "lantern",
    "violin",
    "anvil",
    "teapot",
    "globe",
    "mirror",
    "hammock",
    "barometer",
    "accordion",
)
_PLACES = (
    "attic",
    "cellar",
    "pantry",
    "workshop",
    "greenhouse",
    "hallway",
    "stable",
    "boathouse",
    "library",
    "garage",
)
_COLOURS = ("green", "scarlet", "ochre", "violet", "turquoise", "ivory")
_TELLING = (
    "talk",
    "talk",
    "talk",
    "remember",
    "remember",
    "tell",
    "edit",
    "ask",
    "ask",
    "elsewhere",
    "stranger",
    "stray",
    "flood",
)
_COMMANDING = ("status", "uncompact", "compact", "undo", "dream", "restore")
_ORDERED = (
    "SAY",
    "SAY",
    "SAY_LONG",
    "EDIT",
    "CHANGE",
    "NOTE",
    "KEEP",
    "RECALL",
    "UNCOMPACT",
    "READ",
    "WRONG",
)
_FLOOD, _LONG = 10, 950
"""Messages, and characters of each, that put the context above its hard limit at once. A longer
message would be cut.
"""


@dataclass(frozen=True, slots=True)
class Said:
    """An acknowledged line. ``inside``: the agent was in the room, so it has to hear it.
    ``outside``: it was not, so it may hear the line when it enters, but not do what it commands.
    Neither, when it came or left at that moment.
    """

    room: str
    kind: str
    name: str
    text: str
    inside: bool
    outside: bool

    @property
    def command(self) -> bool:
        """Whether the harness answers it, and the agent does not hear it."""
        return self.kind == "STRAY" or self.text.startswith("/")


@dataclass(slots=True)
class Ledger:
    """All that was acknowledged in a home, in order; ``edits`` are the lines that people wrote into
    USER.md with an editor.
    """

    said: list[Said] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)


class Talk:
    """The people of one life. ``ordering``: their agent's model takes orders."""

    def __init__(self, home: Path, seed: int, ledger: Ledger, ordering: bool) -> None:
        self._rooms = Rooms(home / "chats")
        self._seed = seed
        self._ordering = ordering
        self.ledger = ledger
        self.chance = random.Random(seed)
        self._count = 0

    def do(self, what: str, folder: Path | None) -> None:
        """One thing that people do; ``folder`` is the identity's, if there is one yet."""
        what = self.chance.choice(_TELLING + _COMMANDING) if what == "any" else what
        match what:
            case "talk":
                self._say(
                    self._statement()
                    + self._orders(self.chance.choices(_ORDERED, k=self.chance.randint(0, 4))),
                    folder,
                )
            case "remember":
                fact = f"remember that the {self.chance.choice(_THINGS)} has number {self._mark()}"
                self._say(
                    f"{self._mark()} {fact}{self._orders(['EDIT', 'SAY', 'CHANGE', 'SAY'])}"
                    if self._ordering
                    else fact,
                    folder,
                )
            case "tell":
                fact = f"my {self.chance.choice(_THINGS)} is now number {self._mark()}"
                self._say(
                    f"{self._mark()} {fact}{self._orders(['TELL', 'SAY', 'TELL'])}"
                    if self._ordering
                    else fact,
                    folder,
                )
            case "ask":
                question = f"where does the {self.chance.choice(_THINGS)} stand?"
                self._say(
                    f"{self._mark()} {question}{self._orders(['UNCOMPACT', 'SAY'])}"
                    if self._ordering
                    else question,
                    folder,
                )
            case "note":
                self._say(
                    f"{self._mark()} take a note{self._orders(['NOTE', 'SAY', 'NOTE'])}", folder
                )
            case "keep":
                self._say(
                    f"{self._mark()} please keep "
                    f"this{self._orders(['KEEP', 'SAY', 'KEEP', 'RECALL'])}",
                    folder,
                )
            case "join" | "leave":
                self._say(
                    f"{self._mark()} please {what}{self._orders(['SAY', what.upper(), 'SAY'])}",
                    folder,
                )
            case "elsewhere":
                order = self._orders([self.chance.choice(("SAY", "NOTE"))])
                text = self.chance.choice((f"{self._statement()}{order}", "/status"))
                self._say(text, folder, room=SECOND_ROOM if self._ordering else ROOM)
            case "flood":
                for _ in range(_FLOOD):
                    self._say(f"{self._statement()} and so on".ljust(_LONG, "."), folder)
            case "stranger":
                self._say(self._statement(), folder, kind="AGENT", name="eve-1")
            case "stray":
                self._stray(f"{self._mark()} was echoed into the file by a shell script")
            case "edit":
                self._edit(folder)
            case _:
                self._command(what, folder)

    def _command(self, what: str, folder: Path | None) -> None:
        match what:
            case "uncompact":
                self._say(f"/uncompact {self._reference(folder)}", folder)
            case "undo":
                self._say("/undo-compaction", folder)
            case "restore":
                self._say(f"/dream-restore {self._version(folder)} anyway", folder)
            case _:
                self._say(f"/{what}", folder)

    def _mark(self) -> str:
        self._count += 1
        return f"K{self._seed}-{self._count}"

    def _statement(self) -> str:
        thing, place, colour = (self.chance.choice(words) for words in (_THINGS, _PLACES, _COLOURS))
        rest = (
            f"and next to it, behind {self.chance.choice(_COLOURS)} cloth, lies what is "
            f"left of the {self.chance.choice(_THINGS)}"
        )
        return f"{self._mark()} the {colour} {thing} stands in the {place},\n{rest}."

    def _orders(self, orders: list[str]) -> str:
        return f" {ORDERS}{' '.join(orders)}" if self._ordering and orders else ""

    def _say(
        self,
        text: str,
        folder: Path | None,
        room: str = ROOM,
        kind: str = "USER",
        name: str = "ada",
    ) -> None:
        before = _inside(folder, room)
        self._rooms.say(room, kind, name, text, clock.utc())
        after = _inside(folder, room)
        self.ledger.said.append(
            Said(room, kind, name, text, inside=before and after, outside=not before and not after)
        )

    def _stray(self, text: str) -> None:
        """A line without a tag: the agent does not hear it, and tells so once."""
        self._rooms.open(ROOM, clock.utc())
        files.append(self._rooms.path(ROOM), f"{text}\n".encode())
        self.ledger.said.append(Said(ROOM, "STRAY", "", text, inside=True, outside=False))

    def _edit(self, folder: Path | None) -> None:
        """Somebody opens USER.md, writes a line and saves."""
        if folder:
            line = f"{self._mark()} was written by hand"
            with open(folder / USER, "a", encoding="utf-8") as file:
                file.write(f"{line}\n")
            self.ledger.edits.append(line)

    def _version(self, folder: Path | None) -> str:
        """One of the newest versions, if there are any yet."""
        known = (
            [one.sha for one in islice(Versions(folder, clock.utc, str).log(), 3)]
            if folder and (folder / ".git").exists()
            else []
        )
        return self.chance.choice(known)[:8] if known else "123456"

    def _reference(self, folder: Path | None) -> str:
        """One of the newest small results: little to put back, so that many fit."""
        life = (folder / "LIFE.md").read_text(encoding="utf-8", errors="replace") if folder else ""
        named = [
            hash
            for line in life.splitlines()
            if " SAY ◱" in line
            for hash, _ in references.live(line)
        ]
        return self.chance.choice(named[-8:]) if named else "123456"


def _inside(folder: Path | None, room: str) -> bool:
    """The first room is entered by booting and never left."""
    return room == ROOM or (folder is not None and (folder / "subs" / f"{room}.md").is_symlink())
