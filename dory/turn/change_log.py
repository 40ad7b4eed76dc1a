"""What people are shown of the log of changes, and how they take a change back: the same for each
layer that has such a log.
"""

import difflib
from collections.abc import Iterator, Sequence
from itertools import islice

from dory.identity.identity import Identity
from dory.storage.changes import Change, Changes, Snapshot, Undoable
from dory.text import formatting, pages

_DIFF = 600
"""Characters of what one change has changed, in a list."""
_VALUE = 100
"""Characters of another field than the text."""


def listed(changes: Changes, layer: str, command: str, number: int) -> str:
    """A page of all changes of a layer, a line each, the newest first."""
    total = changes.count(layer)
    if not total:
        return "no change is logged yet"

    def lines(offset: int, limit: int) -> list[str]:
        return [change.title for change in changes.newest(layer, offset, limit)]

    return pages.page(command, total, number, lines) + "\n/undo <number> takes a change back"


def told(
    changes: Changes, layer: str, command: str, number: int, items: Sequence[int], text: str
) -> str:
    """A page of the changes of some things, with what each has changed. ``text`` is the name of the
    field that holds a thing's text.
    """

    def lines(offset: int, limit: int) -> list[str]:
        found = changes.newest(layer, offset, limit, items)
        return [f"{change.title}\n{_difference(change, items, text)}" for change in found]

    shown = pages.page(command, changes.count(layer, items), number, lines)
    return f"{shown}\n/undo <number> takes a change back"


def undone(
    identity: Identity, changes: Changes, layer: str, number: int, things: Undoable
) -> str | None:
    """Take a change of a layer back, and tell the agent; None if the layer has none with that
    number. Raises ``ToolError``.
    """
    change = changes.find(layer, number)
    if not change:
        return None
    undo = changes.undo(change, things)
    identity.notice(
        f"A person has taken back change {number} of your {layer} ({change.who}: {change.what}"
        f" {change.name}): it is as before."
    )
    return (
        f"change {number} is taken back ({change.who}: {change.what} {change.name});"
        f" /undo {undo.number} makes it again"
    )


def _difference(change: Change, items: Sequence[int], text: str) -> str:
    """The lines that differ, in their places, and the other fields that do."""
    before = {state["id"]: state for state in change.before if state["id"] in items}
    after = {state["id"]: state for state in change.after if state["id"] in items}
    lines: list[str] = []
    for item in sorted(before.keys() | after.keys()):
        lines += _lines(before.get(item, {}), after.get(item, {}), text)
    shown = "\n".join(lines)
    return shown if len(shown) <= _DIFF else f"{shown[: _DIFF - 2].rstrip()}\n    …"


def _lines(before: Snapshot, after: Snapshot, text: str) -> Iterator[str]:
    for field in dict.fromkeys([*before, *after]):
        old, new = before.get(field), after.get(field)
        if old == new or field in ("id", "at", text):
            continue
        if before and after:
            yield f"    {field}: {_value(old)} -> {_value(new)}"
    old_lines, new_lines = (str(state.get(text, "")).splitlines() for state in (before, after))
    difference = difflib.unified_diff(old_lines, new_lines, n=0, lineterm="")
    for line in islice(difference, 2, None):  # the first two name files
        if not line.startswith("@@"):
            yield f"    {line[0]} {line[1:]}"


def _value(value: object) -> str:
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return formatting.one_line("none" if value in (None, "") else str(value), _VALUE)
