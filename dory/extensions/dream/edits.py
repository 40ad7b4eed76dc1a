"""The steps of a Dream: tool calls that read and edit USER, MEMORY and VOICE, why each was made,
and what came of it. Pure.

Which changes of a Dream still fit the files as they are by then: the newer edit, that of the agent
or of a person, wins. Pure.

A replacement or a removal fits while what it searches stands there, in lines that nobody has
changed. A line that is appended would fit always; it conflicts with a line that was added to the
same file while the Dream ran and has at least half of its words, for that most likely tells the
same, or what is so now.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dory.errors import ToolError
from dory.text import edits, formatting
from dory.text.prompt_files import DURABLE, durable_name
from dory.types import Call

READ, EDIT = "READ_FILE", "EDIT_FILE"
TITLE_LIMIT = 60
"""Characters that are shown of what a model wrote as a call's first line."""


@dataclass(frozen=True, slots=True)
class DreamEdit:
    """One tool call, why it was made, and what came of it in words."""

    call: Call
    reason: str
    outcome: Literal["changed", "refused", "read"]
    told: str


def file_of(call: Call) -> str:
    """The one of the three files that a call names. Raises ``ToolError``."""
    if name := durable_name(call.args):
        return name
    raise ToolError(
        f"a Dream reads and edits {', '.join(DURABLE)} only, not {formatting.one_line(call.args, TITLE_LIMIT)!r}"
    )


def decoded(content: bytes, name: str) -> str:
    """The text of a file. Raises ``ToolError`` when it is none: written back it would not be what
    it was.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(
            f"{name} is no UTF-8 text: nothing was changed; a person has to save it as such"
        ) from None


def revised(text: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """The text of a file after the search/replace blocks of one call. Of what is appended those
    lines stay away that stand there already. Raises ``ToolError`` when one does not fit, or nothing
    would change.
    """
    if not blocks:
        raise ToolError(
            "no search/replace block: put '<<<<<<< SEARCH', old text, '=======', new text, '>>>>>>> REPLACE' below the line"
        )
    after = text
    for search, replacement in blocks:
        new = replacement if search else _new(replacement, lines(after))
        if search or lines(new):
            after = edits.edited(after, sought(after, search, new), new, name)
    return edits.checked(text, after, name)


def sought(text: str, search: str, replacement: str) -> str:
    """What a block replaces in a text: a line that is removed goes with its end."""
    return (
        f"{search}\n"
        if search and not replacement and f"\n{search}\n" in f"\n{edits.unix(text)}"
        else search
    )


def lines(text: str) -> set[str]:
    """The lines of a text that say something."""
    return {line for line in plain(text).split("\n") if line.strip()}


def plain(text: str) -> str:
    """A text without what some editors put before it and at the end of each line."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _new(appended: str, standing: set[str]) -> str:
    return "\n".join(line for line in plain(appended).split("\n") if line not in standing)


_WORD = re.compile(r"[^\W_]{3,}")


def replayed(
    steps: Sequence[DreamEdit], snapshot: Mapping[str, str], now: Mapping[str, bytes]
) -> Iterator[tuple[DreamEdit, str]]:
    """The steps, each with the text of its file after it, empty for what is no change; those edits
    refused that do not fit the files as they are ``now``; and once one that adds text is, those
    that only remove some, for a line that moves from one file to another is added first.
    """
    texts, dreamt, lacking = dict[str, str](), dict(snapshot), False
    for step in steps:
        if step.outcome != "changed":
            yield step, ""
            continue
        name, adds = file_of(step.call), any(added for _, added in step.call.edits)
        known = dreamt.get(name, "")
        dreamt[name] = revised(known, name, step.call.edits)
        try:
            if lacking and not adds:
                raise ToolError("what it removes may be what was to be added elsewhere")
            found = decoded(now.get(name, b""), name)
            for added in (added for search, added in step.call.edits if not search):
                _compare(added, lines(found) - lines(snapshot.get(name, "")))
            texts[name] = fitted(texts.get(name, found), known, name, step.call.edits)
            yield step, texts[name]
        except ToolError as error:
            lacking |= adds
            yield (
                replace(
                    step,
                    outcome="refused",
                    told=f"dropped, as the files were changed while the Dream ran: {error}",
                ),
                "",
            )


def fitted(text: str, known: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """``revised``. Raises ``ToolError``, too, when what a block searches does not stand in lines
    that are as in the ``known`` text.
    """
    after, known = revised(text, name, blocks), edits.unix(known)
    touched = set[str]().union(
        *(_touched(known, sought(known, *block)) for block in blocks if block[0])
    )
    if changed := touched - lines(text):
        raise ToolError(f"somebody has changed meanwhile: {formatting.one_line(min(changed))}")
    return after


def _touched(text: str, search: str) -> set[str]:
    """The lines, as whole ones, in which ``search`` stands."""
    before, found, after = text.partition(search)
    rest = "" if found.endswith("\n") else after.partition("\n")[0]
    return lines(before.rpartition("\n")[2] + found + rest) if found else set()


def _compare(added: str, meanwhile: set[str]) -> None:
    """Raises ``ToolError`` when a line of ``added`` is much like one that somebody has written
    ``meanwhile``.
    """
    for line in added.split("\n"):
        words = _words(line)
        rival = next(
            (
                other
                for other in sorted(meanwhile)
                if words and 2 * len(words & _words(other)) >= len(words)
            ),
            None,
        )
        if rival is not None:
            raise ToolError(f"somebody has written meanwhile: {formatting.one_line(rival)}")


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line.lower()))
