"""A life in plain lists and dicts, for the machine that drives real ones: what must stand on disk,
given what the agent was told.

The model believes the agent's own entries and nothing else. Each entry that is new says that
something happened: a line was heard, a tool line had an outcome, an interrupted one ran or did not.
The model lets exactly that happen to its lists, refuses what cannot follow on what it knows, and
then the files must hold what the lists hold.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from dory.constants import ABOUT_LIMIT, MEMORY_LIMIT
from dory.identity import context
from dory.identity.context import Entry
from dory.storage.blobs import Blobs
from dory.storage.rooms import laid_out
from dory.text import answers, formatting, imitations, references
from dory.types import Call

INTERRUPTED = "You were stopped while the tool lines of your last response ran."
_KNOWN = ("SAY", "EDIT_FILE", "JOIN", "LEAVE", "WAIT")
"""The tools of which the model knows when they succeed."""
_CUE = "\n↳ "
"""What the harness itself adds below a message. A message's own further lines are indented."""
_TAG = re.compile(r"\[(\w+):(\S+) [^\]]*\] (.*)", re.DOTALL)


@dataclass
class Said:
    """One line of a room."""

    kind: str
    name: str
    text: str


Rooms = dict[str, list[Said]]


def lived(entries: Sequence[Entry], blobs: Blobs) -> list[Entry]:
    """Every entry there ever was, read back through all references. An opened original that was
    folded again stays as it stands.
    """
    past: list[Entry] = []
    for entry in entries:
        blob = blobs.get(entry.hash) if entry.kind == "compacted" and entry.hash else None
        inside = context.parse(blob.body) if blob and blob.kind == "context" else []
        past += lived(inside, blobs) if inside and inside[0].first == entry.first else [entry]
    return past


def unanswered(lines: Sequence[Said]) -> int:
    """Where a newcomer starts: after the last line of an agent, at most 20 lines before the end."""
    answered = [number for number, line in enumerate(lines, 1) if line.kind == "AGENT"]
    return max([*answered, len(lines) - 20, 0])


def edited(content: str, edits: Sequence[tuple[str, str]]) -> str | None:
    """What search/replace blocks make of a text; None when one of them cannot be applied, or
    nothing changes.
    """
    after = content
    for search, replacement in edits:
        if search and after.count(search) != 1:
            return None
        if search:
            after = after.replace(search, replacement)
            after = after if replacement or after.strip() else ""
        else:
            after = (
                f"{after}{'' if not after or after.endswith(chr(10)) else chr(10)}{replacement}\n"
            )
    return after if edits and after != content else None


@dataclass
class Mind:
    """What one agent is and knows. ``entries`` are all it ever had, as they were when they were
    new.
    """

    name: str
    world: Rooms
    tools: Sequence[str]
    rooms: set[str] = field(default_factory=lambda: {"dev"})
    heard: dict[str, int] = field(default_factory=dict)
    """By room: how many of its lines were taken in or passed over."""
    files: dict[str, str] = field(default_factory=lambda: {"MEMORY.md": ""})
    entries: list[Entry] = field(default_factory=list)
    answer: str | None = None
    """The response that the model gives in its next turn."""
    disk_failed: bool = False
    """Whether something that was possible may have failed since the last look."""
    calls: list[Call] = field(default_factory=list)
    """The tool lines of the newest response that nothing is known of yet."""
    plain: str = ""
    """The newest response, if it has no tool line: it may be said in a room."""

    def learn(self, life: Sequence[Entry]) -> None:
        """``life`` is every entry there ever was, read back through all references: the ones known
        are as they were, each new one is true.
        """
        assert [entry.ids for entry in life] == [str(number) for number in range(1, len(life) + 1)]
        for known, original in zip(self.entries, life, strict=False):
            folded = known.kind == "uncompacted" and (original.kind, original.hash) == (
                "compacted",
                known.hash,
            )
            assert folded or known == original, f"#{known.ids} has changed"
        assert len(life) >= len(self.entries), "entries were lost"
        for entry in life[len(self.entries) :]:
            self.entries.append(entry)
            self._take(entry)

    def at_rest(self) -> None:
        """Whatever was begun was told to the end."""
        assert not [call for call in self.calls if call.tool != "WAIT"], (
            f"nobody told what became of {self.calls}"
        )

    def all_heard(self) -> bool:
        """Whether nothing is left to hear."""
        return all(self._next(room) == len(self.world[room]) for room in self.rooms)

    def told(self) -> Counter[str]:
        """How many lines of each kind LIFE.md must hold."""
        titles = [
            entry.about.split(" ")[0] if entry.kind in ("result", "error") else entry.kind
            for entry in self.entries
        ]
        return Counter("UNCOMPACT" if title == "uncompacted" else title for title in titles)

    def _take(self, entry: Entry) -> None:
        body = references.unescape(entry.body)
        if entry.kind == "heard":
            self._hear(entry.about, entry.body)
        elif entry.kind == "response":
            self.at_rest()
            assert body == self.answer, "a response that nobody gave, or one a second time"
            self.answer = None
            answer = answers.parse(body, self.tools, (), self.rooms)
            self.calls = list(answer.calls)
            self.plain = "" if answer.calls else imitations.cleaned(answer.plain).strip()
        elif entry.kind in ("result", "error", "uncompacted"):
            if self.plain and entry.about.startswith("SAY "):
                self._said_plainly(entry.about)
            call = self._next_call()
            assert entry.kind == "uncompacted" or entry.about.split(" ")[0] == formatting.one_line(
                call.tool, ABOUT_LIMIT
            )
            self._judge(call, entry.kind != "error", body)
        elif entry.kind == "notice" and body.startswith(INTERRUPTED):
            self._split(body)

    def _hear(self, room: str, body: str) -> None:
        at = self._next(room)
        assert at < len(self.world[room]), f"heard in {room} what nobody said: {body!r}"
        line = self.world[room][at]
        tag = _TAG.fullmatch(body.partition(_CUE)[0])
        assert tag and Said(tag[1], tag[2], references.unescape(tag[3])) == line
        self.heard[room] = at + 1

    def _next(self, room: str) -> int:
        """The first line not heard yet that is neither its own nor the harness's."""
        lines = self.world[room]
        at = self.heard[room]
        while at < len(lines) and (lines[at].name == self.name or lines[at].kind == "NOTICE"):
            at += 1
        return at

    def _said_plainly(self, about: str) -> None:
        """The plain answer went to a room in which somebody waits."""
        self.calls = [Call("SAY", about.split(" ")[1], body=self.plain)]
        self.plain = ""

    def _next_call(self) -> Call:
        while self.calls[0].tool == "WAIT" and not self.calls[0].error:
            self.calls.pop(0)
        return self.calls.pop(0)

    def _split(self, notice: str) -> None:
        """After a kill: which of the calls without an outcome ran. At most one can have, besides
        those that do nothing.
        """
        response = next(entry for entry in reversed(self.entries) if entry.kind == "response")
        body = references.unescape(response.body)
        if self.plain and (said := re.search(r"\bSAY \S+", notice)):
            self._said_plainly(said[0].rstrip(".;"))
            every = list(self.calls)
        else:
            every = list(answers.parse(body, self.tools, (), self.rooms).calls)
        claims = [
            f"Ran: {_titles(every[:at])}. Did not run, and had no effect: {_titles(every[at:])}."
            for at in range(len(every) + 1)
        ]
        at = next(number for number, claim in enumerate(claims) if claim in notice)
        done = len(every) - len(self.calls)
        assert at >= done, "what has an outcome is told not to have run"
        doubtful = [call for call in every[done:at] if call.tool != "WAIT"]
        assert len(doubtful) <= 1
        self.calls = []
        for call in doubtful:
            self._judge(call, True, notice)

    def _judge(self, call: Call, ran: bool, why: str) -> None:
        """Let a call happen. Whether it ran must be what the model expects."""
        possible = not call.error and self._possible(call)
        assert ran == possible or (possible and (self.disk_failed or call.tool not in _KNOWN)), (
            f"{call}: {why}"
        )
        if not ran:
            return
        if call.tool == "SAY":
            room, text = _message(call)
            self.world[room].append(Said("AGENT", self.name, laid_out(text)))
        elif call.tool == "EDIT_FILE":
            self.files[call.args] = edited(self.files.get(call.args, ""), call.edits) or ""
        elif call.tool == "JOIN":
            self.rooms.add(call.args)
            lines = self.world.setdefault(call.args, [])
            self.heard[call.args] = max(self.heard.get(call.args, 0), unanswered(lines))
        elif call.tool == "LEAVE":
            self.rooms.discard(call.args)

    def _possible(self, call: Call) -> bool:
        if call.tool == "SAY":
            room, text = _message(call)
            return room in self.rooms and bool(text)
        if call.tool == "EDIT_FILE":
            before = self.files.get(call.args, "")
            after = edited(before, call.edits)
            return after is not None and (
                call.args != "MEMORY.md" or len(after) <= max(MEMORY_LIMIT, len(before) - 1)
            )
        if call.tool in ("JOIN", "LEAVE"):
            return (call.args in self.rooms) == (call.tool == "LEAVE") and bool(
                re.fullmatch("[a-z0-9_-]{1,64}", call.args)
            )
        return True


def _message(call: Call) -> tuple[str, str]:
    room, _, text = call.args.partition(" ")
    return room, f"{text.strip()}\n{call.body or ''}".strip()


def _titles(calls: Sequence[Call]) -> str:
    return "; ".join(formatting.one_line(call.title, ABOUT_LIMIT) for call in calls) or "none"
