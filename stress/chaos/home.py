"""A life read back from its files: every entry that there ever was, and what its tool lines did.

``deeds`` derives from the entries alone which tool lines ran: those with an outcome and, after an
interruption, those of which the notice says so. ``checks.py`` compares that with the files.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, takewhile
from pathlib import Path

from dory import clock
from dory.constants import ABOUT_LIMIT
from dory.extensions.dream.history import History
from dory.extensions.dream.repository import Commit
from dory.extensions.dream.versions import Versions
from dory.extensions.notes.store import Note, Notes
from dory.identity import context, state
from dory.identity.context import Entry
from dory.offline.prompt_reader import TOOLS
from dory.search.index import Index
from dory.storage.blobs import Blobs
from dory.storage.database import NAME, Store
from dory.storage.rooms import Rooms
from dory.text import answers, formatting, references
from dory.types import Call, Line
from stress.chaos.orders import INTERRUPTED, PLAINLY, ROOM
from stress.chaos.talk import Ledger

_LASTING = ("SAY", "EDIT_FILE", "NOTE_ADD", "JOIN", "LEAVE")
"""The tools with an effect outside of the context. After a kill the effect may be there without an
outcome in the context.
"""


@dataclass(slots=True)
class Deeds:
    """The tool lines of a life. ``ran`` took effect, in order; ``false_claims`` describe what the
    agent was told about them and cannot be true.
    """

    ran: list[Call] = field(default_factory=list)
    false_claims: list[str] = field(default_factory=list)


@dataclass
class Home:
    """A home at rest, with one identity, after ``kills`` kills. ``life_before`` is LIFE.md and
    ``dreamed_before`` the cursor of the Dreams, both as they were at the last check.
    """

    folder: Path
    identity: Path
    ledger: Ledger
    kills: int
    life_before: bytes = b""
    dreamed_before: int = 0

    @cached_property
    def record(self) -> state.State:
        """The identity's ``state.json``."""
        return state.load(self.identity / "state.json")

    @cached_property
    def life(self) -> tuple[list[Entry], list[str]]:
        """Every entry that there ever was, in order of id, and the ids that stand for two different
        things.
        """
        return _lived(self.live, self.blobs)

    @cached_property
    def live(self) -> list[Entry]:
        """The context as it was committed."""
        content = (self.identity / "context.md").read_bytes()[: self.record.context_bytes]
        return context.parse(context.read_epoch(content)[1])

    @cached_property
    def blobs(self) -> Blobs:
        """All originals."""
        return Blobs(self.folder / "blobs")

    @cached_property
    def notes(self) -> list[Note]:
        """Notes and archives, the oldest first."""
        store = Store(self.identity / NAME, readonly=True)
        notes = sorted(Notes(store, Index(store)), key=lambda note: note.id)
        store.close()
        return notes

    @cached_property
    def deeds(self) -> Deeds:
        """What became of its tool lines."""
        return deeds(self.life[0])

    @cached_property
    def log(self) -> bytes:
        """LIFE.md."""
        return (self.identity / "LIFE.md").read_bytes()

    @cached_property
    def dreamed(self) -> int:
        """How many entries of the history were dreamed of."""
        return History(self.identity).dreamed

    @cached_property
    def versions(self) -> list[tuple[Commit, dict[str, str]]]:
        """Every version of the durable texts, with the texts, the oldest first."""
        kept = Versions(self.identity, clock.utc, str)
        return [(version, kept.contents(version.sha)) for version in kept.log()][::-1]

    def lines(self, room: str) -> list[Line]:
        """The lines of a room."""
        return Rooms(self.folder / "chats").read(room, 0)

    @property
    def rooms(self) -> list[str]:
        """Every room that has a file."""
        return sorted(path.stem for path in (self.folder / "chats").glob("*.md"))


def _lived(entries: Iterable[Entry], blobs: Blobs) -> tuple[list[Entry], list[str]]:
    """The entries behind all references, at every depth. An opened original that was folded again
    counts as an ``uncompacted`` entry.
    """
    by_id: dict[int, Entry] = {}
    twice: list[str] = []
    seen: set[str] = set()
    waiting = list(entries)
    while waiting:
        entry = waiting.pop()
        inside = _inside(entry, blobs)
        if inside and inside[0].first <= entry.first <= inside[-1].last:
            if entry.hash not in seen:
                seen.add(entry.hash or "")
                waiting += inside
            continue
        if entry.kind == "compacted":
            entry = Entry(entry.first, entry.last, "uncompacted", entry.about, "")
        known = by_id.setdefault(entry.first, entry)
        if known != entry and (known.kind, entry.kind) != ("uncompacted", "uncompacted"):
            twice.append(
                f"#{entry.ids} is {known.kind} {known.body[:60]!r} in one place and "
                f"{entry.kind} {entry.body[:60]!r} in another"
            )
    return [by_id[first] for first in sorted(by_id)], twice


def _inside(entry: Entry, blobs: Blobs) -> list[Entry]:
    blob = blobs.get(entry.hash) if entry.kind == "compacted" and entry.hash else None
    return context.parse(blob.body) if blob and blob.kind == "context" else []


def deeds(life: Sequence[Entry]) -> Deeds:
    """What became of the tool lines of every response."""
    result = Deeds()
    for response, rest in _responses(life):
        made = answers.parse(references.unescape(response.body), TOOLS).calls
        calls = list(made) or _delivered(response, rest)
        outcomes = list(takewhile(lambda entry: not _interruption(entry), rest))
        notice = next(filter(_interruption, rest), None)
        done, failed = _matched(calls, outcomes)
        if notice:
            done = _as_claimed(response, calls, done, references.unescape(notice.body), result)
        elif missing := [
            call.title
            for number, call in enumerate(calls)
            if number not in done and call.tool != "WAIT"
        ]:
            result.false_claims.append(
                f"the agent was not told what became of {missing} in response #{response.ids}"
            )
        result.ran += [calls[number] for number in sorted(done - failed)]
    return result


def _delivered(response: Entry, rest: Sequence[Entry]) -> list[Call]:
    """The SAY as which a response without a tool line was delivered, if it was, or was to be when
    it was interrupted.
    """
    call = Call("SAY", ROOM, body=references.unescape(response.body))
    tried = any(
        entry.about == call.title or (_interruption(entry) and call.title in entry.body)
        for entry in rest
    )
    return [call] if tried and response.body.endswith(PLAINLY) else []


def _responses(life: Sequence[Entry]) -> Iterator[tuple[Entry, list[Entry]]]:
    """Each response, with the entries that follow it up to the next response."""
    places = [place for place, entry in enumerate(life) if entry.kind == "response"]
    for place, end in pairwise([*places, len(life)]):
        yield life[place], list(life[place + 1 : end])


def _interruption(entry: Entry) -> bool:
    return entry.kind == "notice" and entry.body.startswith(INTERRUPTED)


def _matched(calls: Sequence[Call], outcomes: Sequence[Entry]) -> tuple[set[int], set[int]]:
    """The places of the calls that have an outcome, and of those whose outcome is an error.
    Outcomes stand in the order of the calls.
    """
    done: set[int] = set()
    failed: set[int] = set()
    left = [entry for entry in outcomes if entry.kind in ("result", "error", "uncompacted")]
    for number, call in enumerate(calls):
        if left and call.tool != "WAIT" and _belongs(left[0], call):
            done.add(number)
            if left.pop(0).kind == "error":
                failed.add(number)
        elif call.tool != "WAIT":
            break
    return done, failed


def _belongs(entry: Entry, call: Call) -> bool:
    tool = "UNCOMPACT" if entry.kind == "uncompacted" else entry.about.split(" ")[0]
    return tool == call.tool


def _as_claimed(
    response: Entry, calls: Sequence[Call], done: set[int], notice: str, result: Deeds
) -> set[int]:
    """The numbers of the calls that ran according to the notice. It must name every call, and may
    say of at most one call without an outcome that it ran.
    """
    for split in range(len(calls) + 1):
        if (
            f"Ran: {_titles(calls[:split])}. Did not run, and had no effect: "
            f"{_titles(calls[split:])}." in notice
        ):
            doubtful = [
                call
                for number, call in enumerate(calls[:split])
                if number not in done and call.tool != "WAIT"
            ]
            if (
                len(doubtful) > 1
                or any(call.tool not in _LASTING for call in doubtful)
                or any(number >= split for number in done)
            ):
                result.false_claims.append(
                    f"response #{response.ids}: {sorted(done)} have outcomes, but the "
                    f"notice says {notice!r}"
                )
            return set(range(split))
    result.false_claims.append(
        f"response #{response.ids}: the notice does not tell its tool lines "
        f"{_titles(calls)!r} apart: {notice!r}"
    )
    return done


def _titles(calls: Sequence[Call]) -> str:
    return "; ".join(formatting.one_line(call.title, ABOUT_LIMIT) for call in calls) or "none"
