"""The neural link: who may be meant by a partner, how memories travel, and the record of what came
and went. ``extensions/link/requests.py`` says how one asks.

The memories travel as a blob of the kind ``bank``: a line of JSON that says whose they are, and one
for each memory. ``origin`` says who first had a memory and what its number was there, so it is
known again whichever way it comes.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from dory import clock
from dory.errors import FormatError, ToolError, UnknownVersion
from dory.extensions.memories.store import Memory, MemoryStore
from dory.identity import listing, state
from dory.identity.listing import AgentInfo
from dory.search.index import Index
from dory.storage import locks
from dory.storage.blobs import Blobs
from dory.storage.database import Store
from dory.text import formatting
from dory.types import Blob

KIND = "bank"
_VERSION = 1
_OLDEST = 1970
"""The year before which no agent can have had a memory."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS link (partner TEXT, asked TEXT, given INTEGER, at TEXT, new INTEGER, known INTEGER, "
    "PRIMARY KEY (partner, asked, given))"
)


class LinkRecord:
    """The links there were: a row for each bank that came, and for each that was given."""

    def __init__(self, store: Store, bank: MemoryStore) -> None:
        self._store = store
        self._bank = bank
        store.tables(_TABLE)

    def take(
        self, partner: str, asked: datetime, memories: Sequence[Memory], own: int, at: datetime
    ) -> tuple[int, int]:
        """Take over the memories of ``partner``, in one transaction, and once for each request; how
        many were new, and how many known: ``own`` were the agent's own.
        """
        with self._store.writing() as connection:
            key = (partner, clock.exact(asked))
            rows = self._store.rows(
                "SELECT new, known FROM link WHERE partner = ? AND asked = ? AND given = 0", key
            )
            if rows:
                return int(rows[0][0]), int(rows[0][1])
            new, known = self._bank.take(memories, at)
            connection.execute(
                "INSERT INTO link VALUES (?, ?, 0, ?, ?, ?)",
                (*key, clock.second(at), new, known + own),
            )
            return new, known + own

    def give(self, partner: str, asked: datetime, count: int, at: datetime) -> None:
        """So many memories went to ``partner``."""
        with self._store.writing() as connection:
            row = (partner, clock.exact(asked), clock.second(at), count)
            connection.execute("INSERT OR IGNORE INTO link VALUES (?, ?, 1, ?, ?, 0)", row)

    def newest(self, limit: int) -> list[tuple[str, str, str, str]]:
        """When, in which direction, with whom, how many."""
        rows = self._store.rows(
            "SELECT at, given, partner, new, known FROM link ORDER BY at DESC, given, partner LIMIT ?",
            (limit,),
        )
        return [
            (
                at,
                "to" if given else "from",
                partner,
                f"{new} memories" if given else f"{new} new, {known} known",
            )
            for at, given, partner, new, known in rows
        ]


def partner(home: Path, own: str, given: str) -> AgentInfo:
    """The other agent that a name, with or without its digits, or the first digits of an identity,
    means. Raises ``ToolError``.
    """
    everyone = listing.agents(home)
    others = [one for one in everyone if one.hash != own]
    if not given:
        raise ToolError(f"which agent? Write its name behind the tool's: {_names(others)}")
    named = (
        [one for one in everyone if one.name == given]
        or [one for one in everyone if len(given) >= 4 and one.hash.startswith(given)]
        or [one for one in others if one.name.rpartition("-")[0].casefold() == given.casefold()]
    )
    if not named:
        raise ToolError(
            f"there is no agent {formatting.one_line(given, 70)!r} here: {_names(others)}"
        )
    if len(named) > 1:
        raise ToolError(
            f"{formatting.one_line(given, 70)!r} fits {len(named)} agents: write more digits of {', '.join(one.hash for one in named)}"
        )
    if named[0].hash == own:
        raise ToolError(f"that is you, and what you remember you have: {_names(others)}")
    return named[0]


def name_of(home: Path, hash: str) -> str:
    """What an agent is called in rooms; its first digits when that cannot be read."""
    try:
        return state.load(home / "agents" / hash / "state.json").name
    except (FormatError, OSError):
        return hash[:8]


def awake(home: Path, hash: str) -> bool:
    """Whether the agent's process runs."""
    return locks.holder(home / "agents" / hash) is not None


def packed(path: Path, blobs: Blobs, name: str) -> tuple[str, int]:
    """The memories of the agent ``name``, whose store is at ``path``, as a blob: its hash, and how
    many they are. For any thread.

    It is of the time of the newest memory, so the same memories are the same blob, however often
    they are shared.
    """
    with closing(Store(path, readonly=True)) as store:
        memories = list(MemoryStore(store, Index(store)).everything())
    lines = [json.dumps({"version": _VERSION, "from": name}, ensure_ascii=False)]
    for one in memories:
        told = {
            "kind": one.kind,
            "at": clock.exact(one.at),
            "origin": one.origin or f"{name} {one.id}",
            "text": one.text,
        }
        lines.append(json.dumps(told, ensure_ascii=False))
    at = max((one.at for one in memories), default=datetime.fromtimestamp(0, UTC))
    gist = f"{len(memories)} memories of {name}"
    return blobs.stash("\n".join([*lines, ""]), kind=KIND, gist=gist, at=at), len(memories)


def unpacked(blob: Blob, own: str, redact: Callable[[str], str]) -> tuple[list[Memory], int]:
    """The memories in such a blob that are not those of the agent ``own`` itself, and how many of
    it come back. Raises ``FormatError``.
    """
    if blob.kind != KIND:
        raise FormatError(
            f"the blob {blob.hash} holds no memories, it is of the kind {formatting.one_line(blob.kind, 70)!r}"
        )
    try:
        heading, *lines, end = blob.body.split("\n")
        if (version := json.loads(heading)["version"]) != _VERSION:
            raise UnknownVersion(f"blob {blob.hash}", formatting.one_line(str(version)), _VERSION)
        if end:
            raise ValueError("the last line is cut off")
        found = [_memory(json.loads(line), redact) for line in lines]
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise FormatError(
            f"the memories are damaged ({type(error).__name__}: {formatting.one_line(str(error), 200)})"
        ) from error
    foreign = [one for one in found if not one.origin.startswith(f"{own} ")]
    return foreign, len(found) - len(foreign)


def _names(agents: Iterable[AgentInfo]) -> str:
    listed = sorted(f"{one.name}{'' if one.pid is not None else ' (asleep)'}" for one in agents)
    return (
        f"the others here are {', '.join(listed[:10])}"
        if listed
        else "there is no other agent here"
    )


def _memory(told: dict[str, str], redact: Callable[[str], str]) -> Memory:
    """Raises ``ValueError`` and ``OverflowError`` for what cannot be kept, and what a ``told`` that
    is no mapping of texts leads to.
    """
    kind, text, origin, at = (
        told["kind"],
        told["text"],
        formatting.one_line(told["origin"]),
        clock.moment(told["at"]).astimezone(UTC),
    )
    text.encode()  # JSON may hold halves of characters, which no file can
    if at.year < _OLDEST:
        raise ValueError(f"a memory of the year {at.year}")
    if kind == "Memory":
        return Memory(0, "Memory", redact(text), at, origin, None)
    if kind == "Summary":
        return Memory(0, "Summary", redact(text), at, origin, None)
    raise ValueError(f"unknown kind {kind!r}")
