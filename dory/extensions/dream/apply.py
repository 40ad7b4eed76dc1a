"""Applies what a Dream changes, between two turns: all of it or nothing, through kills and errors
at any instant. Only the loop's thread calls this.

The steps, in this order:

1. The record of the Dream is stashed, a blob of the kind ``dream``: what was studied, what was
   decided and why, what was changed, what was refused.
2. ``dream.json`` is written. Before that nothing has happened, and after a kill the history is
   dreamed of again. While the file exists, nobody else commits.
3. Each change is made in its file and committed, with a trailer that names the record.
4. ``.dream_cursor`` moves on.
5. LIFE names the record.
6. ``dream.json`` is removed.

A start, or the next attempt, goes on where the last one ended and repeats nothing. How far that one
came is told by the commits since ``base``, by the cursor, and by LIFE from the byte ``life`` on.

Changes are replayed on the files as they are now. A change that does not fit any more, because the
agent or a person changed the same text meanwhile, is dropped: the newer edit wins (``edits.py``). A
change that is dropped after ``dream.json`` was written is marked there. LIFE then names a second
record: the first one, and what was dropped.

``dream.json``:

    {"version": 1, "record": "5d41…", "gist": "…", "base": "<commit>", "life": 1234, "cursor": 42,
     "changes": [{"name", "blocks", "reason", "after", "dropped"}]}
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dory.clock import minute
from dory.errors import ToolError
from dory.extensions.dream import edits
from dory.extensions.dream.edits import EDIT, DreamEdit, decoded, file_of
from dory.extensions.dream.history import History, Item
from dory.extensions.dream.session import DreamResult
from dory.extensions.dream.versions import DREAM, Versions
from dory.identity import life
from dory.identity.identity import Identity
from dory.storage import files, json_file
from dory.text import formatting, tool_calls
from dory.types import Call

NAME = "dream.json"
VERSION = 1
_TOLD_LIMIT = 400
"""Characters of what came of a call, in the record."""


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
    changes.
    """

    record: str
    gist: str
    base: str
    life: int
    cursor: int
    changes: Sequence[Change]


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

    def apply(self, dreamt: DreamResult) -> list[str]:
        """Make all changes of a Dream. What was done, one line each."""
        self._begin(dreamt)
        return [*self.resume(), *self.end()]

    def resume(self) -> list[str]:
        """Make the missing changes of the revision that was begun. One line for each that had to be
        dropped. Raises ``FormatError``.
        """
        pending = read_pending(self._path)
        if pending is None:
            return []
        self._versions.catch_up()
        done = self._done(pending)
        texts = self._versions.contents(self._base(pending))
        dropped = []
        for number, change in enumerate(pending.changes, 1):
            known = texts[change.name]
            texts[change.name] = change.after
            if number <= done or change.dropped:
                continue
            trailer = f"Dream: {pending.record} {number}/{len(pending.changes)}"
            obstacle = self._make(change, known, trailer)
            if obstacle:
                changes = list(pending.changes)
                changes[number - 1] = replace(change, dropped=obstacle)
                pending = replace(pending, changes=changes)
                write_pending(self._path, pending)
                dropped.append(
                    f"{change.name} was changed meanwhile, a change of the Dream was dropped:"
                    f" {obstacle}"
                )
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
                self._me.log("dreamed", final.gist, final.record)
                self._logged = pending.record
            self._me.commit()
        self._path.unlink()
        files.sync_folder(self._path.parent)
        return [f"{final.gist}; /show {final.record} tells what and why"]

    def _begin(self, dreamt: DreamResult) -> None:
        """The steps up to the writing of ``dream.json``."""
        me = self._me
        self._versions.take_in()
        steps: list[DreamEdit] = []
        changes: list[Change] = []
        for step, after in edits.replayed(dreamt.steps, dreamt.texts, self._versions.raw()):
            steps.append(step)
            if step.outcome == "changed":
                changes.append(Change(file_of(step.call), step.call.edits, step.reason, after))
        gist = f"history {_range(dreamt.items)}: {_count(len(changes))}"
        refused = sum(1 for step in steps if step.outcome == "refused")
        if refused:
            gist += f", {refused} refused or dropped"
        body = _record(f"Dream of {minute(me.now())}, {gist}", dreamt.items, dreamt.study, steps)
        record = me.blobs.stash(body, kind="dream", gist=gist, at=me.now(), parent=None)
        life_end = me.state.life_bytes + len(me.state.life_lines.encode())
        cursor = dreamt.items[-1].cursor
        head = self._versions.head()
        write_pending(self._path, PendingRevision(record, gist, head, life_end, cursor, changes))

    def _base(self, pending: PendingRevision) -> str:
        """The version on which the revision began; the newest one if the versions have begun anew
        since.
        """
        if any(version.sha == pending.base for version in self._versions.log()):
            return pending.base
        return self._versions.head()

    def _done(self, pending: PendingRevision) -> int:
        """The number of the last change that is committed; 0 for none."""
        for version in self._versions.log():
            if version.sha == pending.base:
                break
            _, trailer, place = version.reason.rpartition(f"Dream: {pending.record} ")
            if trailer:
                return int(place.partition("/")[0])
        return 0

    def _make(self, change: Change, known: str, trailer: str) -> str:
        """Make one change of the ``known`` text and commit it. Returns why it has to be dropped, or
        an empty text.
        """
        before = self._versions.raw(self._versions.head())[change.name]
        now = self._versions.raw()[change.name]
        if before == _encoded(change.after):
            # It was made, and committed by somebody who did not know that it was the Dream's.
            return ""
        try:
            text = decoded(before, change.name)
            wanted = _encoded(edits.fitted(text, known, change.name, change.blocks))
        except ToolError as error:
            return str(error)
        if now == before:
            self._versions.write(change.name, before, wanted)
        elif now != wanted:  # neither as before, nor as a kill or an error has left this change
            self._versions.take_in()
            return "somebody was editing it"
        self._versions.commit(DREAM, f"{change.reason}\n\n{trailer}", change.name)
        return ""

    def _final(self, pending: PendingRevision) -> PendingRevision:
        """What LIFE is to say: with a gist and a record of its own if something was dropped since
        the first ones were written.
        """
        dropped = [change for change in pending.changes if change.dropped]
        if not dropped:
            return pending
        number = len(pending.changes)
        made = number - len(dropped)
        gist = pending.gist.replace(f": {_count(number)}", f": {made} of {_count(number)} made", 1)
        listed = "\n".join(
            _listed(
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


def _record(title: str, items: Sequence[Item], study: str, steps: Sequence[DreamEdit]) -> str:
    """The whole of a Dream for people, as markdown."""
    studied = "\n".join(f"{item.cursor} {item.timestamp}\n{item.content}" for item in items)
    sections = {
        "What it studied": _indented(studied),
        "What it decided, and why": _indented(study),
        "What it read": "\n".join(
            _listed(step.call, step.reason, "") for step in steps if step.outcome == "read"
        ),
        "What it changed": _listed_steps(steps, "changed"),
        "What was refused or dropped": _listed_steps(steps, "refused"),
    }
    body = "".join(
        f"\n## {heading}\n\n{section or 'Nothing.'}\n" for heading, section in sections.items()
    )
    return f"# {title}\n{body}"


def _listed_steps(steps: Sequence[DreamEdit], outcome: str) -> str:
    return "\n".join(
        _listed(step.call, step.reason, step.message) for step in steps if step.outcome == outcome
    )


def _listed(call: Call, reason: str, outcome: str) -> str:
    told = f" ({formatting.one_line(outcome, _TOLD_LIMIT)})" if outcome else ""
    return f"- {reason}{told}\n\n{_indented(tool_calls.render([call]))}\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def _range(items: Sequence[Item]) -> str:
    if len(items) == 1:
        return str(items[0].cursor)
    return f"{items[0].cursor} to {items[-1].cursor}"


def _count(changes: int) -> str:
    return "1 change" if changes == 1 else f"{changes or 'no'} changes"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
