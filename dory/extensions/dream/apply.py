"""Applies what a Dream changes, between two turns: all of it or nothing, through kills and errors
at any instant. Only the loop's thread calls this.

The steps, in this order:

1. The record of the Dream is stashed, a blob of the kind ``dream``: what was studied, what was
   decided and why, what was changed, what was refused.
2. ``dream.json`` is written. Before that nothing has happened, and after a kill the history is
   dreamed of again. While the file exists, nobody else commits.
3. The files are written, and committed together: one Dream is one commit. Its message lists the
   changes with their reasons, and ends with a trailer that names the record.
4. ``.dream_cursor`` moves on.
5. LIFE names the record, and the same commit of the state owes the rooms one line about it.
6. ``dream.json`` is removed.

A start, or the next attempt, goes on where the last one ended and repeats nothing. How far that one
came is told by the commits since ``base``, by the cursor, and by LIFE from the byte ``life`` on.
Older homes may have commits of one change each, with a trailer that counts them (``2/3``).

Changes are replayed on the files as they are now. A change that does not fit any more, because the
agent or a person changed the same text meanwhile, is dropped: the newer edit wins (``edits.py``). A
change that is dropped after ``dream.json`` was written is marked there. LIFE then names a second
record: the first one, and what was dropped. If somebody saves a file between step 2 and its commit,
all changes of that file are dropped.

``dream.json``:

    {"version": 1, "record": "5d41…", "gist": "…", "base": "<commit>", "life": 1234, "cursor": 42,
     "changes": [{"name", "blocks", "reason", "after", "dropped"}], "asked": false, "limited": []}
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from dory.clock import minute
from dory.errors import ToolError
from dory.extensions.dream import edits, report
from dory.extensions.dream.edits import EDIT, DreamEdit, decoded, file_of
from dory.extensions.dream.history import History
from dory.extensions.dream.repository import Commit
from dory.extensions.dream.session import DreamResult
from dory.extensions.dream.versions import DREAM, PERSON, Versions
from dory.identity import audience, life
from dory.identity.identity import Identity
from dory.identity.state import Owed
from dory.storage import files, json_file
from dory.storage.watched_files import Contents
from dory.text import diffs, formatting
from dory.types import Call

NAME = "dream.json"
VERSION = 1
_TITLE_LIMIT = 200
"""Characters of a change in the message of the commit."""


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of one file: its search/replace blocks, and its reason. ``after`` is what the file
    holds after it, unless somebody else edits it, too. ``dropped`` says why it could not be made.
    """

    name: str
    blocks: Sequence[tuple[str, str]]
    reason: str
    after: str
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class PendingRevision:
    """A revision that is being made: the hash of its record and the gist of it for LIFE, the commit
    and the byte of LIFE at which it began, the last entry of the history that it covers, and its
    changes. ``asked``: a person waits for it. ``limited``: the files of which it may not remove as
    much as it wanted.
    """

    record: str
    gist: str
    base: str
    life: int
    cursor: int
    changes: Sequence[Change]
    asked: bool = False
    limited: Sequence[str] = ()


def write_pending(path: Path, pending: PendingRevision) -> None:
    """Durable when this returns."""
    content = json.dumps({"version": VERSION, **asdict(pending)}, ensure_ascii=False)
    files.replace(path, content.encode("utf-8", "replace"))


def read_pending(path: Path) -> PendingRevision | None:
    """The revision that is not complete yet; None when there is none. Raises ``FormatError``."""
    return json_file.read(
        path,
        VERSION,
        _pending,
        "remove it, and what it has not changed yet is not changed",
        limit=None,
    )


def _pending(row: dict[str, Any]) -> PendingRevision:
    del row["version"]
    changes = []
    for change in row.pop("changes"):
        blocks = [(search, replacement) for search, replacement in change.pop("blocks")]
        changes.append(Change(blocks=blocks, **change))
    return PendingRevision(**row, changes=changes)


class Revision:
    """The revisions of one identity, one at a time."""

    def __init__(self, me: Identity, versions: Versions, history: History) -> None:
        self._me = me
        self._versions = versions
        self._history = history
        self._path = me.folder / NAME
        self._logged = ""  # the record that LIFE was last given, which may not be on disk yet

    @property
    def begun(self) -> bool:
        """Whether a revision is being made."""
        return self._path.exists()

    def apply(self, dreamt: DreamResult, asked: bool = False) -> list[str]:
        """Make all changes of a Dream. What was done, one line each. Somebody who has ``asked`` for
        it is told in the rooms also if nothing was changed.
        """
        self._begin(dreamt, asked)
        return [*self.resume(), *self.end()]

    def record_failure(self, dreamt: DreamResult) -> str:
        """Note in LIFE that a Dream failed, with a record that tells why. Returns the record's
        hash. The history stays undreamed.
        """
        me = self._me
        gist = f"history {report.span(dreamt.items)}: failed, {dreamt.failure}"
        steps = dreamt.steps
        body = report.written(f"Dream of {minute(me.now())}, {gist}", dreamt, steps)
        record = me.blobs.stash(body, kind="dream", gist=gist, at=me.now(), parent=None)
        me.log("dream-failed", gist, record)
        me.commit()
        return record

    def resume(self) -> list[str]:
        """Make the missing changes of the revision that was begun. One line for each that had to be
        dropped. Raises ``FormatError``.
        """
        pending = read_pending(self._path)
        if pending is None:
            return []
        self._versions.catch_up()
        done = self._done(pending)
        dropped: list[str] = []
        if done < len(pending.changes):
            dropped = self._make(pending, done)
        self._history.advance(pending.cursor)
        return dropped

    def end(self) -> list[str]:
        """Note in LIFE what was done, and that the revision is complete. Raises ``FormatError``."""
        pending = read_pending(self._path)
        if pending is None:
            return []
        final = self._final(pending)
        life_lines = files.read_from(self._me.life.path, pending.life).splitlines()
        if not any(life.references(life_lines, "dreamed")):
            if self._logged != pending.record:
                notices = self._notices(final)
                self._me.log("dreamed", final.gist, final.record)
                self._me.state.notices += notices
                self._logged = pending.record
            self._me.commit()
        self._path.unlink()
        files.sync_folder(self._path.parent)
        return [f"{final.gist}; /show {final.record} tells what and why"]

    def _notices(self, final: PendingRevision) -> list[Owed]:
        """The line about the Dream that each room gets, unless there is nothing to tell."""
        tally = self._tally(final)
        told = [f"Dream: {tally or 'no changes'}"] if tally or final.limited else []
        if final.limited:
            told.append(
                f"it wanted to remove more than a third of {' and '.join(final.limited)} and may"
                " not, /dream anyway lets it"
            )
        if not told and final.asked:
            told.append(f"the Dream has ended: {final.gist}")
        if not told:
            return []
        told.append("/dream-log" if tally else f"/show {final.record}")
        me = self._me
        return [Owed(room, "; ".join(told), me.rooms.end(room)) for room in audience.rooms(me)]

    def _tally(self, pending: PendingRevision) -> str:
        """How many lines of each file the Dream has changed."""
        for version in self._since(pending):
            if _ordinal(version.reason, pending.record) is not None:
                return self._versions.tally(version.sha)
        return ""

    def _begin(self, dreamt: DreamResult, asked: bool) -> None:
        """The steps up to the writing of ``dream.json``."""
        me = self._me
        self._versions.take_in()
        steps: list[DreamEdit] = []
        changes: list[Change] = []
        for step, after in edits.replayed(dreamt.steps, dreamt.texts, self._versions.raw()):
            steps.append(step)
            if step.outcome == "changed":
                changes.append(Change(file_of(step.call), step.call.edits, step.reason, after))
        gist = f"history {report.span(dreamt.items)}: {report.count(len(changes))}"
        refused = sum(1 for step in steps if step.outcome == "refused")
        if refused:
            gist += f", {refused} refused or dropped"
        body = report.written(f"Dream of {minute(me.now())}, {gist}", dreamt, steps)
        record = me.blobs.stash(body, kind="dream", gist=gist, at=me.now(), parent=None)
        life_end = me.state.life_bytes + len(me.state.life_lines.encode())
        cursor = dreamt.items[-1].cursor
        head = self._versions.head()
        limited = tuple(dreamt.limited)
        pending = PendingRevision(record, gist, head, life_end, cursor, changes, asked, limited)
        write_pending(self._path, pending)

    def _base(self, pending: PendingRevision) -> str:
        """The version on which the revision began; the newest one if the versions have begun anew
        since.
        """
        if any(version.sha == pending.base for version in self._versions.log()):
            return pending.base
        return self._versions.head()

    def _since(self, pending: PendingRevision) -> Iterator[Commit]:
        """The versions since the revision began, the newest first."""
        return takewhile(lambda version: version.sha != pending.base, self._versions.log())

    def _done(self, pending: PendingRevision) -> int:
        """The number of the last change that is committed; 0 for none."""
        for version in self._since(pending):
            ordinal = _ordinal(version.reason, pending.record)
            if ordinal is not None:
                return int(ordinal or len(pending.changes))
        return 0

    def _make(self, pending: PendingRevision, done: int) -> list[str]:
        """Make the changes behind the first ``done`` in the files, and commit them. Returns a line
        for each that had to be dropped, which is noted before anything is written.
        """
        versions = self._versions
        before = versions.raw(versions.head())
        plan = self._plan(pending, done, before)
        now = versions.raw()
        if edited := [name for name in plan.wanted if now[name] not in plan.stages[name]]:
            for name in edited:
                versions.commit(PERSON, "Edited by hand.", name)
            before = versions.raw(versions.head())
            plan = self._plan(pending, done, before)
        if plan.obstacles:
            changes = [
                replace(change, dropped=plan.obstacles.get(number, change.dropped))
                for number, change in enumerate(pending.changes)
            ]
            pending = replace(pending, changes=changes)
            write_pending(self._path, pending)
        self._write(pending, plan, before)
        return [
            f"{pending.changes[number].name} was changed meanwhile, a change of the Dream was"
            f" dropped: {obstacle}"
            for number, obstacle in sorted(plan.obstacles.items())
        ]

    def _plan(self, pending: PendingRevision, done: int, before: Mapping[str, bytes]) -> "_Plan":
        """What is to be done on the files as the newest version has them, which is ``before``."""
        known = self._versions.contents(self._base(pending))
        final = {change.name: change.after for change in pending.changes}
        plan = _Plan()
        addition_dropped = False
        for number, change in enumerate(pending.changes):
            name = change.name
            known_before = known[name]
            known[name] = change.after
            adds = any(added for _, added in change.blocks)
            addition_dropped |= adds and bool(change.dropped)
            if number < done or change.dropped:
                continue
            if before[name] == _encoded(final[name]):
                # It was made, and committed by somebody who did not know that it was the Dream's.
                continue
            try:
                if addition_dropped and not adds:
                    raise ToolError(edits.MAY_BE_MOVED)
                text = decoded(plan.wanted.get(name, before[name]), name)
                after = edits.fitted(text, known_before, name, change.blocks)
            except ToolError as error:
                plan.obstacles[number] = str(error)
                addition_dropped |= adds
                continue
            plan.stages.setdefault(name, [before[name]]).append(_encoded(after))
            title = diffs.subject({name: text}, {name: after})
            plan.titles[number] = formatting.one_line(title, _TITLE_LIMIT)
        return plan

    def _write(self, pending: PendingRevision, plan: "_Plan", before: Mapping[str, bytes]) -> None:
        """Write the files, and commit them as one version."""
        now = self._versions.raw()
        for name, content in plan.wanted.items():
            if now[name] != content:
                ours = now[name] in plan.stages[name]
                self._versions.write(name, now[name] if ours else before[name], content)
        contents: Contents = {
            name: content for name, content in plan.wanted.items() if content != before[name]
        }
        if not contents:
            return
        changes = "\n".join(
            f"{title}\n  {pending.changes[number].reason}"
            for number, title in sorted(plan.titles.items())
        )
        subject = ""  # made from the diff: a single change is quoted
        if len(plan.titles) > 1:
            subject = diffs.tally(_decoded(before), _decoded({**before, **plan.wanted}))
        reason = f"{changes}\n\nDream: {pending.record}"
        self._versions.record(DREAM, subject, reason, contents)

    def _final(self, pending: PendingRevision) -> PendingRevision:
        """What LIFE is to say: with a gist and a record of its own if something was dropped since
        the first ones were written.
        """
        dropped = [change for change in pending.changes if change.dropped]
        if not dropped:
            return pending
        number = len(pending.changes)
        made = number - len(dropped)
        count = report.count(number)
        gist = pending.gist.replace(f": {count}", f": {made} of {count} made", 1)
        listed = "\n".join(
            report.listed(
                Call(EDIT, change.name, edits=tuple(change.blocks)), change.reason, change.dropped
            )
            for change in dropped
        )
        first = self._me.blobs.get(pending.record).body
        body = f"{first}\n## What was dropped when the changes were made\n\n{listed}\n"
        record = self._me.blobs.stash(
            body, kind="dream", gist=gist, at=self._me.now(), parent=pending.record
        )
        return replace(pending, gist=gist, record=record)


@dataclass(slots=True)
class _Plan:
    """What becomes of the changes of a Dream, by their numbers from 0: the ``titles`` of those that
    fit, and the ``obstacles`` of those that do not. ``stages`` are the contents of each file: as it
    is, and after each of its changes. A kill of an older version may have left any of them.
    """

    stages: dict[str, list[bytes]] = field(default_factory=dict)
    titles: dict[int, str] = field(default_factory=dict)
    obstacles: dict[int, str] = field(default_factory=dict)

    @property
    def wanted(self) -> dict[str, bytes]:
        """What the files are to hold in the end."""
        return {name: contents[-1] for name, contents in self.stages.items()}


def _ordinal(reason: str, record: str) -> str | None:
    """What of a Dream's changes a commit with that ``reason`` holds: empty for all, ``2`` for those
    up to the second. None if the commit is not of the Dream with that ``record``.
    """
    _, trailer, rest = reason.rpartition(f"Dream: {record}")
    return rest.strip().partition("/")[0] if trailer else None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _decoded(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {name: content.decode("utf-8", "replace") for name, content in contents.items()}
