"""The log of changes: what was done to notes and memories, when, by whom, and how to take it back.

Two tables of the agent's SQLite file:

    change         number (rising), when, who, the layer, what was done, the name of the thing; the
                   things before and after as JSON; the number of the change that it took back
    change_item    which things of a layer a change is about

A row is written in the transaction of the change itself, so there is none without the other. Each
thing is a *snapshot*: its id and its fields. A thing that is missing before was added by the
change, one that is missing after was removed. A snapshot may leave out fields that the change has
not touched, as self-care does with the texts of very many memories.

A change can be taken back as long as each of its things is as the change left it. That is again a
change, which can be taken back. Files from before there was a log have none of the tables; a reader
of such a file sees an empty log.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from dory import clock
from dory.clock import Clock, utc
from dory.errors import ToolError
from dory.storage.database import Store

AGENT = "the agent"
SELF_CARE = "its self-care"
LINK = "a link"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS change (number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER,"
    " who TEXT, layer TEXT, what TEXT, name TEXT, before TEXT, after TEXT, undid INTEGER)",
    "CREATE TABLE IF NOT EXISTS change_item (layer TEXT, item INTEGER, change INTEGER,"
    " PRIMARY KEY (layer, item, change)) WITHOUT ROWID",
)
_COLUMNS = "number, at, who, layer, what, name, before, after, undid"

Snapshot = Mapping[str, Any]
"""A thing at one time: its fields by name. ``id`` is always one of them."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the log."""

    number: int
    at: datetime
    who: str
    layer: str
    what: str
    name: str
    before: tuple[Snapshot, ...]
    after: tuple[Snapshot, ...]
    undid: int | None = None

    @property
    def items(self) -> list[int]:
        """The ids of the things it is about."""
        return sorted({snapshot["id"] for snapshot in (*self.before, *self.after)})

    @property
    def title(self) -> str:
        """``17  2026-03-02 12:00  ada: changed lisbon-hotel``."""
        return f"{self.number}  {clock.minute(self.at)}  {self.who}: {self.what} {self.name}"


class Undoable(Protocol):
    """A layer whose changes can be taken back."""

    def snapshot(self, item: int) -> Snapshot | None:
        """The whole thing as it is now; None if there is none."""

    def put(self, states: Mapping[int, Snapshot | None]) -> None:
        """Let these things be so, all or none, without logging it. Raises ``ToolError``."""


class Changes:
    """The log of one agent. Raises what the ``Store`` raises.

    ``who`` says whose changes come now, unless ``by`` says it.
    """

    def __init__(
        self, store: Store, now: Clock = utc, who: Callable[[], str] | None = None
    ) -> None:
        self._store = store
        self.now = now
        self.who = who or (lambda: AGENT)
        self._by: list[str] = []
        self._joined: _Joined | None = None
        if not store.readonly:  # a reader of an older file must not ask for tables it lacks
            store.tables(*_SCHEMA)

    @contextmanager
    def by(self, who: str) -> Iterator[None]:
        """Let the changes in the block be those of ``who``."""
        self._by.append(who)
        try:
            yield
        finally:
            self._by.pop()

    @contextmanager
    def as_one(self, what: str, name: str = "") -> Iterator[None]:
        """Write down all changes in the block, which is one transaction, as one change. ``name`` is
        that of the last thing in it if it is not given. A block in such a block joins that one.
        """
        with self._store.writing():
            if self._joined:
                yield
                return
            joined = self._joined = _Joined()
            try:
                yield
            finally:
                self._joined = None
            if joined.layer:
                named = name or joined.name
                self._write(joined.layer, what, named, joined.before(), joined.after())

    def record(
        self,
        layer: str,
        what: str,
        name: str,
        before: Sequence[Snapshot],
        after: Sequence[Snapshot],
    ) -> None:
        """Write a change down. The caller is in the transaction that makes it."""
        if self._joined:
            self._joined.add(layer, name, before, after)
        else:
            self._write(layer, what, name, before, after)

    def count(self, layer: str, items: Sequence[int] = ()) -> int:
        """How many changes there were in a layer, or of those things of it."""
        if not self._kept:
            return 0
        where, values = _where(layer, items)
        return self._store.number(f"SELECT count(*) FROM change WHERE {where}", *values)

    def newest(
        self, layer: str, offset: int = 0, limit: int = 1, items: Sequence[int] = ()
    ) -> list[Change]:
        """The newest changes in a layer, or of those things of it, the newest first."""
        where, values = _where(layer, items)
        return self._select(
            f"WHERE {where} ORDER BY number DESC LIMIT ? OFFSET ?", *values, limit, offset
        )

    @property
    def last(self) -> int:
        """The highest number of a change."""
        return self._store.number("SELECT max(number) FROM change") if self._kept else 0

    def after(self, layer: str, number: int, who: str = "") -> list[Change]:
        """The changes in a layer with higher numbers by those whose names begin with ``who``,
        oldest first.
        """
        where = "WHERE number > ? AND layer = ? AND substr(who, 1, ?) = ? ORDER BY number"
        return self._select(where, number, layer, len(who), who)

    def find(self, layer: str, number: int) -> Change | None:
        """The change in that layer with that number."""
        return next(iter(self._select("WHERE layer = ? AND number = ?", layer, number)), None)

    def named(self, layer: str, name: str) -> list[int]:
        """The things of a layer that a change called by that name."""
        changes = self._select("WHERE layer = ? AND name = ? ORDER BY number", layer, name)
        return sorted({item for change in changes for item in change.items})

    def undo(self, change: Change, layer: Undoable) -> Change:
        """Take a change back; returns the change that did it. Raises ``ToolError`` if one of its
        things has changed since.
        """
        left = {snapshot["id"]: snapshot for snapshot in change.after}
        goal = {snapshot["id"]: snapshot for snapshot in change.before}
        now = {item: layer.snapshot(item) for item in change.items}
        for item in change.items:
            if not agrees(now[item], left.get(item)):
                raise ToolError(self._refusal(change, item))
        with self._store.writing():
            states = {
                item: {**(now[item] or {}), **goal[item]} if item in goal else None
                for item in change.items
            }
            layer.put(states)
            before = [snapshot for snapshot in now.values() if snapshot]
            after = [state for item in change.items if (state := layer.snapshot(item))]
            what = f"took back change {change.number} of"
            number = self._write(change.layer, what, change.name, before, after, change.number)
        (undone,) = self._select("WHERE number = ?", number)
        return undone

    def states(self, layer: str) -> Iterator[tuple[int, Snapshot | None, int]]:
        """Each thing of a layer that was ever changed: its id, how its newest change left it, and
        the number of that change.
        """
        if self._kept:
            rows = self._store.rows(
                "SELECT item, max(change) FROM change_item WHERE layer = ? GROUP BY item", (layer,)
            )
            changes: dict[int, Change] = {}
            for item, number in rows:
                if number not in changes:
                    changes |= {number: self._select("WHERE number = ?", number)[0]}
                left = {snapshot["id"]: snapshot for snapshot in changes[number].after}
                yield item, left.get(item), number

    @property
    def _kept(self) -> bool:
        return not self._store.readonly or self._store.has("change")

    def _refusal(self, change: Change, item: int) -> str:
        (newest,) = self.newest(change.layer, items=[item])
        if newest.number == change.number:
            return f"{change.name} is not as change {change.number} left it: nothing was done"
        if newest.undid == change.number:
            return (
                f"change {change.number} is taken back already, by change {newest.number}:"
                f" /undo {newest.number} makes it again"
            )
        return (
            f"{change.name} has changed again since, with change {newest.number}"
            f" ({newest.who}: {newest.what} {newest.name}): /undo {newest.number} first"
        )

    def _write(
        self,
        layer: str,
        what: str,
        name: str,
        before: Sequence[Snapshot],
        after: Sequence[Snapshot],
        undid: int | None = None,
    ) -> int:
        who = self._by[-1] if self._by else self.who()
        at = int(self.now().timestamp())
        with self._store.writing() as connection:
            values = (at, who, layer, what, name, _json(before), _json(after), undid)
            insert = "INSERT INTO change VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"
            number = connection.execute(insert, values).lastrowid or 0
            items = {snapshot["id"] for snapshot in (*before, *after)}
            connection.executemany(
                "INSERT INTO change_item VALUES (?, ?, ?)",
                ((layer, item, number) for item in items),
            )
        return number

    def _select(self, where: str, *values: object) -> list[Change]:
        if not self._kept:
            return []
        rows = self._store.rows(f"SELECT {_COLUMNS} FROM change {where}", values)
        return [
            Change(
                number,
                self._store.moment(at),
                who,
                layer,
                what,
                name,
                tuple(json.loads(before)),
                tuple(json.loads(after)),
                undid,
            )
            for number, at, who, layer, what, name, before, after, undid in rows
        ]


class _Joined:
    """Changes that become one: the first state before, and the last state after, of each thing."""

    def __init__(self) -> None:
        self.layer = ""
        self.name = ""
        self._before: dict[int, Snapshot | None] = {}
        self._after: dict[int, Snapshot | None] = {}

    def add(
        self, layer: str, name: str, before: Iterable[Snapshot], after: Iterable[Snapshot]
    ) -> None:
        self.layer, self.name = layer, name
        old = {snapshot["id"]: snapshot for snapshot in before}
        new = {snapshot["id"]: snapshot for snapshot in after}
        for item in old.keys() | new.keys():
            self._before.setdefault(item, old.get(item))
            self._after[item] = new.get(item)

    def before(self) -> list[Snapshot]:
        return [state for state in self._before.values() if state]

    def after(self) -> list[Snapshot]:
        return [state for state in self._after.values() if state]


def agrees(now: Snapshot | None, left: Snapshot | None) -> bool:
    """Whether a thing is ``now`` as a change ``left`` it, as far as that tells."""
    if now is None or left is None:
        return now is None and left is None
    return all(now.get(field) == value for field, value in left.items())


def _where(layer: str, items: Sequence[int]) -> tuple[str, tuple[object, ...]]:
    if not items:
        return "layer = ?", (layer,)
    chosen = ", ".join(map(str, items))
    inner = f"SELECT change FROM change_item WHERE layer = ? AND item IN ({chosen})"
    return f"number IN ({inner})", (layer,)


def _json(snapshots: Iterable[Snapshot]) -> str:
    return json.dumps([dict(snapshot) for snapshot in snapshots], ensure_ascii=False)
