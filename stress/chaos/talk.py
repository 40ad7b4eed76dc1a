"""What people say and do in the rooms, and the ledger of what was acknowledged. A line is
acknowledged once its append to the room has returned.

Each statement holds a word that occurs nowhere else, ``K<seed>-<number>``. Everything follows from
the seed, except the references that people name, which come from LIFE.md.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from dory import clock
from dory.extensions.dream.versions import Versions
from dory.extensions.memories.self_care import LEAST
from dory.storage import files
from dory.storage.rooms import Rooms
from dory.text import references
from dory.text.prompt_files import USER
from stress.chaos.orders import ORDERS, PLAIN, ROOM, SECOND_ROOM

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
    "plain",
    "silent",
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
_FLOOD = 10
"""Messages that together put the context above its hard limit."""
_LONG = 950
"""Characters of each of these messages. A longer message would be cut."""
_NO_REFERENCE = "123456"


@dataclass(frozen=True, slots=True)
class Said:
    """An acknowledged line. ``inside``: the agent was in the room, so it must hear the line.
    ``outside``: it was not in the room; it may hear the line when it enters, but must not carry out
    a command in it. Both are false if it joined or left at that moment.
    """

    room: str
    kind: str
    name: str
    text: str
    inside: bool
    outside: bool

    @property
    def command(self) -> bool:
        """Whether the harness answers the line, so that the agent does not hear it."""
        return self.kind == "STRAY" or self.text.startswith("/")


@dataclass(slots=True)
class Ledger:
    """Everything that was acknowledged in a home, in order. ``edits`` are the lines that people
    wrote into USER.md with an editor.
    """

    said: list[Said] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)


class Talk:
    """The people of one life. ``ordering``: the model of their agent takes orders."""

    def __init__(self, home: Path, seed: int, ledger: Ledger, ordering: bool) -> None:
        self._rooms = Rooms(home / "chats")
        self._seed = seed
        self._ordering = ordering
        self.ledger = ledger
        self.chance = random.Random(seed)
        self._count = 0
        self._deeds: dict[str, Callable[[Path | None], None]] = {
            "talk": self._talk,
            "remember": self._remember,
            "tell": self._tell,
            "ask": self._ask,
            "note": self._note,
            "keep": self._keep,
            "plain": self._plain,
            "silent": self._silent,
            "join": self._join,
            "leave": self._leave,
            "elsewhere": self._speak_elsewhere,
            "flood": self._flood,
            "stranger": self._stranger,
            "stray": self._stray,
            "edit": self._edit,
            "uncompact": self._uncompact,
            "undo": self._undo,
            "restore": self._restore,
            "keepsakes": self._keepsakes,
        }

    def do(self, what: str, folder: Path | None) -> None:
        """Let people do one thing: a key of ``_deeds``, a command without its slash, or ``any``.
        ``folder`` is the identity's, if there is one yet.
        """
        if what == "any":
            what = self.chance.choice(_TELLING + _COMMANDING)
        if what in self._deeds:
            self._deeds[what](folder)
        else:
            self._say(f"/{what}", folder)

    def _talk(self, folder: Path | None) -> None:
        statement = self._statement()
        orders = self.chance.choices(_ORDERED, k=self.chance.randint(0, 4))
        self._say(statement + self._orders(*orders), folder)

    def _remember(self, folder: Path | None) -> None:
        thing = self.chance.choice(_THINGS)
        fact = f"remember that the {thing} has number {self._mark()}"
        self._say_with_orders(fact, folder, "EDIT", "SAY", "CHANGE", "SAY")

    def _tell(self, folder: Path | None) -> None:
        fact = f"my {self.chance.choice(_THINGS)} is now number {self._mark()}"
        self._say_with_orders(fact, folder, "TELL", "SAY", "TELL")

    def _ask(self, folder: Path | None) -> None:
        question = f"where does the {self.chance.choice(_THINGS)} stand?"
        self._say_with_orders(question, folder, "UNCOMPACT", "SAY")

    def _note(self, folder: Path | None) -> None:
        self._say(f"{self._mark()} take a note{self._orders('NOTE', 'SAY', 'NOTE')}", folder)

    def _keep(self, folder: Path | None) -> None:
        orders = self._orders("KEEP", "SAY", "KEEP", "RECALL")
        self._say(f"{self._mark()} please keep this{orders}", folder)

    def _plain(self, folder: Path | None) -> None:
        """Something that is answered without a tool line."""
        self._say(f"{self._mark()} please answer plainly{self._orders(PLAIN)}", folder)

    def _silent(self, folder: Path | None) -> None:
        """Something that the agent leaves unanswered: it waits, is reminded, and waits again."""
        self._say(f"{self._mark()} needs no answer{self._orders('WAIT')}", folder)

    def _join(self, folder: Path | None) -> None:
        self._say(f"{self._mark()} please join{self._orders('SAY', 'JOIN', 'SAY')}", folder)

    def _leave(self, folder: Path | None) -> None:
        self._say(f"{self._mark()} please leave{self._orders('SAY', 'LEAVE', 'SAY')}", folder)

    def _speak_elsewhere(self, folder: Path | None) -> None:
        order = self._orders(self.chance.choice(("SAY", "NOTE")))
        text = self.chance.choice((f"{self._statement()}{order}", "/status"))
        self._say(text, folder, room=SECOND_ROOM if self._ordering else ROOM)

    def _flood(self, folder: Path | None) -> None:
        for _ in range(_FLOOD):
            self._say(f"{self._statement()} and so on".ljust(_LONG, "."), folder)

    def _stranger(self, folder: Path | None) -> None:
        """Another agent says something."""
        self._say(self._statement(), folder, kind="AGENT", name="eve-1")

    def _stray(self, folder: Path | None) -> None:
        """A line without a tag. The agent does not hear it, and the harness says so once."""
        text = f"{self._mark()} was echoed into the file by a shell script"
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

    def _uncompact(self, folder: Path | None) -> None:
        self._say(f"/uncompact {self._reference(folder)}", folder)

    def _undo(self, folder: Path | None) -> None:
        self._say("/undo-compaction", folder)

    def _restore(self, folder: Path | None) -> None:
        self._say(f"/dream-restore {self._version(folder)} anyway", folder)

    def _keepsakes(self, folder: Path | None) -> None:
        """As many memories as the agent needs to sum them up."""
        for _ in range(LEAST):
            self._say(f"/remember {self._statement()}", folder)

    def _mark(self) -> str:
        self._count += 1
        return f"K{self._seed}-{self._count}"

    def _statement(self) -> str:
        thing, place, colour = (self.chance.choice(words) for words in (_THINGS, _PLACES, _COLOURS))
        cloth = self.chance.choice(_COLOURS)
        other = self.chance.choice(_THINGS)
        return (
            f"{self._mark()} the {colour} {thing} stands in the {place},\n"
            f"and next to it, behind {cloth} cloth, lies what is left of the {other}."
        )

    def _orders(self, *orders: str) -> str:
        return f" {ORDERS}{' '.join(orders)}" if self._ordering and orders else ""

    def _say_with_orders(self, text: str, folder: Path | None, *orders: str) -> None:
        """Say ``text`` as it stands to the offline model, which understands it; to a model that
        takes orders say it with ``orders``.
        """
        if self._ordering:
            text = f"{self._mark()} {text}{self._orders(*orders)}"
        self._say(text, folder)

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
        inside = before and after
        outside = not before and not after
        self.ledger.said.append(Said(room, kind, name, text, inside, outside))

    def _version(self, folder: Path | None) -> str:
        """One of the newest versions, if there are any yet."""
        if folder is None or not (folder / ".git").exists():
            return _NO_REFERENCE
        newest = islice(Versions(folder, clock.utc, str).log(), 3)
        known = [version.sha for version in newest]
        return self.chance.choice(known)[:8] if known else _NO_REFERENCE

    def _reference(self, folder: Path | None) -> str:
        """A reference to one of the newest small results. Opening it adds little, so many fit."""
        if folder is None:
            return _NO_REFERENCE
        life = (folder / "LIFE.md").read_text(encoding="utf-8", errors="replace")
        hashes = [
            hash
            for line in life.splitlines()
            if " SAY ◱" in line
            for hash, _ in references.live(line)
        ]
        return self.chance.choice(hashes[-8:]) if hashes else _NO_REFERENCE


def _inside(folder: Path | None, room: str) -> bool:
    """Whether the agent is in the room. It enters the first room by booting and never leaves it."""
    if room == ROOM:
        return True
    return folder is not None and (folder / "subs" / f"{room}.md").is_symlink()
