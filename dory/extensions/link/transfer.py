"""The transfer of a neural link: which agent a name means, the memories as a blob, and the record.

``extensions/link/requests.py`` is how one agent asks another. The memories are a blob of the kind
``bank``: a line of JSON that says whose they are, then one line for each memory. ``origin`` says
which agent first had a memory, and its id there, so a memory is recognised whichever way it comes.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from dory import clock
from dory.errors import FormatError, ToolError, UnknownVersion
from dory.extensions.memories.record import Memory
from dory.extensions.memories.store import MemoryStore
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
"""The first year in which an agent can have had a memory."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS link (partner TEXT, asked TEXT, given INTEGER, at TEXT,"
    " new INTEGER, known INTEGER, PRIMARY KEY (partner, asked, given))"
)
_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading a damaged blob raises."""


Met = Callable[[str, str, str, datetime], None]
"""What records a transfer among the conversations: with whom, who shared, what, and when."""


class LinkRecord:
    """The transfers so far: a row for each that was received, and for each that was given. ``met``
    records each in the same transaction; ``own`` is the agent's name.
    """

    def __init__(self, store: Store, bank: MemoryStore, met: Met, own: str) -> None:
        self._store = store
        self._bank = bank
        self._met = met
        self._own = own
        store.tables(_TABLE)

    def take(
        self, partner: str, asked: datetime, memories: Sequence[Memory], own: int, at: datetime
    ) -> tuple[int, int]:
        """Copy the memories of ``partner`` in one transaction, once for each request.

        Returns how many were new, and how many were known. ``own`` is the number of the agent's own
        memories that came back; they count as known.
        """
        key = (partner, clock.exact(asked))
        sql = "SELECT new, known FROM link WHERE partner = ? AND asked = ? AND given = 0"
        with self._store.writing() as connection:
            rows = self._store.rows(sql, key)
            if rows:
                return int(rows[0][0]), int(rows[0][1])
            new, known = self._bank.take(memories, at)
            insert = "INSERT INTO link VALUES (?, ?, 0, ?, ?, ?)"
            connection.execute(insert, (*key, clock.second(at), new, known + own))
            shared = formatting.plural(len(memories), "memory", "memories")
            self._met(partner, partner, f"neural link: {shared} shared", at)
            return new, known + own

    def give(self, partner: str, asked: datetime, count: int, at: datetime) -> None:
        """Record that ``count`` memories were given to ``partner``."""
        with self._store.writing() as connection:
            row = (partner, clock.exact(asked), clock.second(at), count)
            insert = "INSERT OR IGNORE INTO link VALUES (?, ?, 1, ?, ?, 0)"
            if connection.execute(insert, row).rowcount:
                shared = formatting.plural(count, "memory", "memories")
                self._met(partner, self._own, f"neural link: {shared} shared", at)

    def newest(self, limit: int) -> list[tuple[str, str, str, str]]:
        """The newest transfers: when, "to" or "from", with whom, and how many memories."""
        sql = (
            "SELECT at, given, partner, new, known FROM link"
            " ORDER BY at DESC, given, partner LIMIT ?"
        )
        transfers: list[tuple[str, str, str, str]] = []
        for at, given, partner, new, known in self._store.rows(sql, (limit,)):
            if given:
                transfers.append((at, "to", partner, formatting.plural(new, "memory", "memories")))
            else:
                transfers.append((at, "from", partner, f"{new} new, {known} known"))
        return transfers


def partner(home: Path, own: str, given: str) -> AgentInfo:
    """The other agent that is meant by ``given``.

    That is a name, with or without its digits, or the first digits of a hash. Raises ``ToolError``.
    """
    agents = listing.agents(home)
    others = [agent for agent in agents if agent.hash != own]
    if not given:
        raise ToolError(f"which agent? Write its name behind the tool's: {_names(others)}")
    meant = (
        [agent for agent in agents if agent.name == given]
        or [agent for agent in agents if len(given) >= 4 and agent.hash.startswith(given)]
        or [agent for agent in others if _first_name(agent) == given.casefold()]
    )
    shown = formatting.one_line(given, 70)
    if not meant:
        raise ToolError(f"there is no agent {shown!r} here: {_names(others)}")
    if len(meant) > 1:
        hashes = formatting.named([agent.hash for agent in meant], 10)
        raise ToolError(f"{shown!r} fits {len(meant)} agents: write more digits of {hashes}")
    if meant[0].hash == own:
        raise ToolError(f"that is you, and what you remember you have: {_names(others)}")
    return meant[0]


def name_of(home: Path, hash: str) -> str:
    """The name of an agent in rooms; the first digits of its hash if that cannot be read."""
    try:
        return state.load(home / "agents" / hash / "state.json").name
    except (FormatError, OSError):
        return hash[:8]


def awake(home: Path, hash: str) -> bool:
    """Whether the process of the agent runs."""
    return locks.holder(home / "agents" / hash) is not None


def packed(path: Path, blobs: Blobs, name: str) -> tuple[str, int]:
    """Write the memories of the agent ``name``, whose store is at ``path``, into a blob.

    Returns the hash of the blob and the number of memories. Any thread may call this. The time of
    the blob is that of the newest memory, so the same memories are always the same blob.
    """
    with closing(Store(path, readonly=True)) as store:
        memories = list(MemoryStore(store, Index(store)).everything())
    lines = [json.dumps({"version": _VERSION, "from": name}, ensure_ascii=False)]
    for memory in memories:
        fields = {
            "kind": memory.kind,
            "at": clock.exact(memory.at),
            "origin": memory.copied_from(name),
            "text": memory.text,
        }
        lines.append(json.dumps(fields, ensure_ascii=False))
    at = max((memory.at for memory in memories), default=datetime.fromtimestamp(0, UTC))
    gist = f"{formatting.plural(len(memories), 'memory', 'memories')} of {name}"
    hash = blobs.stash("\n".join([*lines, ""]), kind=KIND, gist=gist, at=at)
    return hash, len(memories)


def unpacked(blob: Blob, own: str, redact: Callable[[str], str]) -> tuple[list[Memory], int]:
    """The memories in such a blob, without those of the agent ``own``, and the number of those.

    Raises ``FormatError``.
    """
    if blob.kind != KIND:
        raise FormatError(
            f"the blob {blob.hash} holds no memories, "
            f"it is of the kind {formatting.one_line(blob.kind, 70)!r}"
        )
    try:
        heading, *lines, end = blob.body.split("\n")
        if (version := json.loads(heading)["version"]) != _VERSION:
            raise UnknownVersion(f"blob {blob.hash}", formatting.one_line(str(version)), _VERSION)
        if end:
            raise ValueError("the last line is cut off")
        memories = [_memory(json.loads(line), redact) for line in lines]
    except _DAMAGE as error:
        reason = formatting.one_line(str(error), 200)
        raise FormatError(f"the memories are damaged ({type(error).__name__}: {reason})") from error
    foreign = [memory for memory in memories if not memory.origin.startswith(f"{own} ")]
    return foreign, len(memories) - len(foreign)


def _first_name(agent: AgentInfo) -> str:
    """The name without its digits, in small letters."""
    return agent.name.rpartition("-")[0].casefold()


def _names(agents: Iterable[AgentInfo]) -> str:
    names = sorted(
        agent.name if agent.pid is not None else f"{agent.name} (asleep)" for agent in agents
    )
    if not names:
        return "there is no other agent here"
    return f"the others here are {', '.join(names[:10])}"


def _memory(fields: dict[str, str], redact: Callable[[str], str]) -> Memory:
    """The memory with these fields. Raises one of ``_DAMAGE`` if it cannot be stored."""
    kind = fields["kind"]
    text = fields["text"]
    origin = formatting.one_line(fields["origin"])
    at = clock.moment(fields["at"]).astimezone(UTC)
    text.encode()  # raises: JSON may hold halves of characters, which no file can
    if at.year < _OLDEST:
        raise ValueError(f"a memory of the year {at.year}")
    if kind == "Memory":
        return Memory(0, "Memory", redact(text), at, origin, None)
    if kind == "Summary":
        return Memory(0, "Summary", redact(text), at, origin, None)
    raise ValueError(f"unknown kind {kind!r}")
