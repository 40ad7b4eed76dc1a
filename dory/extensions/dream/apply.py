"""What a Dream changes, applied between two turns: all of it or nothing, through kills and errors
at any instant. Only the loop's thread calls this.

First the record of the Dream is stashed, a blob of the kind ``dream``: what was studied, what was
decided and why, what was changed, what was refused. Then ``dream.json`` is written
(``extensions/dream/apply.py``); then each change is made in its file and committed, with a trailer
that names the record; then ``.dream_cursor`` moves on; then LIFE names the record; then
``dream.json`` goes. How far it came is told by the commits behind ``base``, by the cursor, and by
LIFE behind the byte ``life``: a start, or the next attempt, goes on from there and repeats nothing.
Before ``dream.json`` stands nothing has happened, and the history is dreamed of again. While it
stands nobody else commits.

Changes are replayed on the files as they are now. One that does not fit any more, as the agent or a
person changed the same meanwhile, is dropped: the newer edit wins (``extensions/dream/edits.py``).
One that is dropped only when ``dream.json`` stands already is marked there; LIFE then names a
second record, which is the first and tells that, too.

``dream.json``: what a Dream changes, written down before the first of it is made, so that a start
can complete it.

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


@dataclass(frozen=True, slots=True)
class Change:
    """The search/replace blocks of one edit of one file, and why it is made; what the file holds
    after it, unless somebody else edits it, too; why it could not be made, if so.
    """

    name: str
    blocks: Sequence[tuple[str, str]]
    reason: str
    after: str
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class PendingRevision:
    """A revision that is being made: its record and what LIFE will say of it, the commit and the
    byte of LIFE at which it began, the last entry of the history that it is about, and what it
    changes.
    """

    record: str
    gist: str
    base: str
    life: int
    cursor: int
    changes: Sequence[Change]


def write_pending(path: Path, begun: PendingRevision) -> None:
    """Durable when this returns."""
    content = json.dumps({"version": VERSION, **asdict(begun)}, ensure_ascii=False)
    files.replace(path, content.encode("utf-8", "replace"))


def read_pending(path: Path) -> PendingRevision | None:
    """What is left to be done; None for nothing. Raises ``FormatError``."""
    return json_file.read(
        path,
        VERSION,
        _begun,
        "remove it, and what it has not changed yet is not changed",
        limit=None,
    )


def _begun(row: dict[str, Any]) -> PendingRevision:
    del row["version"]
    rows = [(one.pop("blocks"), one) for one in row.pop("changes")]
    changes = [
        Change(blocks=[(search, replacement) for search, replacement in blocks], **one)
        for blocks, one in rows
    ]
    return PendingRevision(**row, changes=changes)


class Revision:
    """The revisions of one identity, one at a time."""

    def __init__(self, me: Identity, versions: Versions, history: History) -> None:
        self._me = me
        self._versions = versions
        self._history = history
        self._path = me.folder / NAME
        self._logged = ""  # the last record that LIFE was given, be it on disk or not

    @property
    def begun(self) -> bool:
        """Whether one is being made."""
        return self._path.exists()

    def apply(self, dreamt: DreamResult) -> list[str]:
        """Do all that a Dream came to; what was done, one line each."""
        self._begin(dreamt)
        return [*self.resume(), *self.end()]

    def resume(self) -> list[str]:
        """Make what is missing of the changes that were begun; one line for each that had to be
        dropped. Raises ``FormatError``.
        """
        begun = read_pending(self._path)
        if begun is None:
            return []
        self._versions.catch_up()
        there = any(
            version.sha == begun.base for version in self._versions.log()
        )  # else the versions were begun anew
        done, told, texts = (
            self._done(begun),
            list[str](),
            self._versions.contents(begun.base if there else self._versions.head()),
        )
        for number, change in enumerate(begun.changes, 1):
            known, texts[change.name] = texts[change.name], change.after
            if number <= done or change.dropped:
                continue
            if why := self._make(
                change, known, f"Dream: {begun.record} {number}/{len(begun.changes)}"
            ):
                changes = [
                    replace(one, dropped=why) if one is change else one for one in begun.changes
                ]
                begun = replace(begun, changes=changes)
                write_pending(self._path, begun)
                told.append(
                    f"{change.name} was changed meanwhile, a change of the Dream was dropped: {why}"
                )
        self._history.advance(begun.cursor)
        return told

    def end(self) -> list[str]:
        """Note in LIFE what was done, and that it is. Raises ``FormatError``."""
        begun = read_pending(self._path)
        if begun is None:
            return []
        me, told = self._me, self._final(begun)
        if not any(
            life.references(files.read_from(me.life.path, begun.life).splitlines(), "dreamed")
        ):
            if self._logged != begun.record:
                me.log("dreamed", told.gist, told.record)
                self._logged = begun.record
            me.commit()
        self._path.unlink()
        files.sync_folder(self._path.parent)
        return [f"{told.gist}; /show {told.record} tells what and why"]

    def _begin(self, dreamt: DreamResult) -> None:
        """Up to and including ``dream.json``."""
        me = self._me
        self._versions.take_in()
        steps, changes = list[DreamEdit](), list[Change]()
        for step, after in edits.replayed(dreamt.steps, dreamt.texts, self._versions.raw()):
            steps.append(step)
            if step.outcome == "changed":
                changes.append(Change(file_of(step.call), step.call.edits, step.reason, after))
        gist = f"history {_range(dreamt.items)}: {_count(len(changes))}"
        gist += (
            f", {refused} refused or dropped"
            if (refused := sum(step.outcome == "refused" for step in steps))
            else ""
        )
        body = _record(f"Dream of {minute(me.now())}, {gist}", dreamt.items, dreamt.study, steps)
        record = me.blobs.stash(body, kind="dream", gist=gist, at=me.now(), parent=None)
        lived = me.state.life_bytes + len(me.state.life_lines.encode())
        write_pending(
            self._path,
            PendingRevision(
                record, gist, self._versions.head(), lived, dreamt.items[-1].cursor, changes
            ),
        )

    def _done(self, begun: PendingRevision) -> int:
        """The number of the last change that is committed; 0 for none."""
        for version in self._versions.log():
            if version.sha == begun.base:
                break
            _, found, place = version.reason.rpartition(f"Dream: {begun.record} ")
            if found:
                return int(place.partition("/")[0])
        return 0

    def _make(self, change: Change, known: str, trailer: str) -> str:
        """Make one change of the ``known`` text and commit it; why not, if it has to be dropped."""
        before, now = (
            found[change.name]
            for found in (self._versions.raw(self._versions.head()), self._versions.raw())
        )
        if before == _encoded(
            change.after
        ):  # it was made, and its commit told by somebody who did not know of it
            return ""
        try:
            wanted = _encoded(
                edits.fitted(decoded(before, change.name), known, change.name, change.blocks)
            )
        except ToolError as error:
            return str(error)
        if now == before:
            self._versions.write(change.name, before, wanted)
        elif now != wanted:  # not what a kill or an error left of this very change
            self._versions.take_in()
            return "somebody was editing it"
        self._versions.commit(DREAM, f"{change.reason}\n\n{trailer}", change.name)
        return ""

    def _final(self, begun: PendingRevision) -> PendingRevision:
        """What LIFE says: with a gist and a record of their own if something was dropped since the
        first were written.
        """
        dropped = [change for change in begun.changes if change.dropped]
        if not dropped:
            return begun
        number = len(begun.changes)
        gist = begun.gist.replace(
            f": {_count(number)}", f": {number - len(dropped)} of {_count(number)} made", 1
        )
        listed = "\n".join(
            _listed(Call(EDIT, one.name, edits=tuple(one.blocks)), one.reason, one.dropped)
            for one in dropped
        )
        body = f"{self._me.blobs.get(begun.record).body}\n## What was dropped when the changes were made\n\n{listed}\n"
        return replace(
            begun,
            gist=gist,
            record=self._me.blobs.stash(
                body, kind="dream", gist=gist, at=self._me.now(), parent=begun.record
            ),
        )


def _record(title: str, items: Sequence[Item], study: str, steps: Sequence[DreamEdit]) -> str:
    """The whole of a Dream for people, as markdown."""
    studied = "\n".join(f"{item.cursor} {item.timestamp}\n{item.content}" for item in items)
    parts = {
        "What it studied": _indented(studied),
        "What it decided, and why": _indented(study),
        "What it read": "\n".join(
            _listed(step.call, step.reason, "") for step in steps if step.outcome == "read"
        ),
        "What it changed": "\n".join(
            _listed(step.call, step.reason, step.told)
            for step in steps
            if step.outcome == "changed"
        ),
        "What was refused or dropped": "\n".join(
            _listed(step.call, step.reason, step.told)
            for step in steps
            if step.outcome == "refused"
        ),
    }
    return f"# {title}\n" + "".join(
        f"\n## {heading}\n\n{part or 'Nothing.'}\n" for heading, part in parts.items()
    )


def _listed(call: Call, reason: str, outcome: str) -> str:
    told = f" ({formatting.one_line(outcome, 400)})" if outcome else ""
    return f"- {reason}{told}\n\n{_indented(tool_calls.render([call]))}\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def _range(items: Sequence[Item]) -> str:
    return str(items[0].cursor) if len(items) == 1 else f"{items[0].cursor} to {items[-1].cursor}"


def _count(changes: int) -> str:
    return "1 change" if changes == 1 else f"{changes or 'no'} changes"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
