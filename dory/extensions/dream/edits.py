"""The tool calls of a Dream, which read and edit USER, MEMORY and VOICE; and which of its edits
still fit the files as they are when the Dream is applied. Pure.

The newer edit wins, be it the agent's or a person's. A replacement or a removal fits while the text
that it searches stands there, in lines that nobody has changed. An appended line would always fit.
It conflicts with a line that was added to the same file while the Dream ran and that has at least
half of its words: that line most likely says the same, or what is true now.
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
"""Characters shown of the first line of a call."""
_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True, slots=True)
class DreamEdit:
    """One tool call, why it was made, and what came of it in words."""

    call: Call
    reason: str
    outcome: Literal["changed", "refused", "read"]
    told: str


def file_of(call: Call) -> str:
    """The file that a call names. Raises ``ToolError`` unless it is one of the three."""
    if name := durable_name(call.args):
        return name
    given = formatting.one_line(call.args, TITLE_LIMIT)
    raise ToolError(f"a Dream reads and edits {', '.join(DURABLE)} only, not {given!r}")


def decoded(content: bytes, name: str) -> str:
    """The text of a file. Raises ``ToolError`` for bytes that are no UTF-8, because writing the
    text back would change them.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(
            f"{name} is no UTF-8 text: nothing was changed; a person has to save it as such"
        ) from None


def revised(text: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """The text of a file after the search/replace blocks of one call. Appended lines that stand in
    the file already are left out. Raises ``ToolError`` when a block does not fit, or nothing would
    change.
    """
    if not blocks:
        raise ToolError(
            "no search/replace block: put '<<<<<<< SEARCH', old text, '=======', new text,"
            " '>>>>>>> REPLACE' below the line"
        )
    after = text
    for search, replacement in blocks:
        new = replacement if search else _without_known(replacement, lines(after))
        if search or lines(new):
            after = edits.edited(after, sought(after, search, new), new, name)
    return edits.checked(text, after, name)


def sought(text: str, search: str, replacement: str) -> str:
    """What a block replaces in a text. If it removes whole lines, so is their last line break."""
    whole_lines = f"\n{search}\n" in f"\n{edits.unix(text)}"
    if search and not replacement and whole_lines:
        return f"{search}\n"
    return search


def lines(text: str) -> set[str]:
    """The lines of a text that are not blank."""
    return {line for line in plain(text).split("\n") if line.strip()}


def plain(text: str) -> str:
    """A text without a byte order mark, and with Unix line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def replayed(
    steps: Sequence[DreamEdit], snapshot: Mapping[str, str], now: Mapping[str, bytes]
) -> Iterator[tuple[DreamEdit, str]]:
    """Replay the steps of a Dream, which began with ``snapshot``, on the files as they are ``now``.

    Yields each step and the text of its file after it, which is empty for a step that changes
    nothing. An edit that does not fit any more comes back as refused. Once an edit that adds text
    is refused, so are all that only remove text: a line that moves from one file to another is
    added first, and would be lost.
    """
    texts: dict[str, str] = {}
    dreamed = dict(snapshot)
    addition_refused = False
    for step in steps:
        if step.outcome != "changed":
            yield step, ""
            continue
        blocks = step.call.edits
        name = file_of(step.call)
        adds = any(added for _, added in blocks)
        known = dreamed.get(name, "")
        dreamed[name] = revised(known, name, blocks)
        try:
            if addition_refused and not adds:
                raise ToolError("what it removes may be what was to be added elsewhere")
            current = decoded(now.get(name, b""), name)
            added_meanwhile = lines(current) - lines(snapshot.get(name, ""))
            for search, added in blocks:
                if not search:
                    _refuse_similar(added, added_meanwhile)
            texts[name] = fitted(texts.get(name, current), known, name, blocks)
        except ToolError as error:
            addition_refused = addition_refused or adds
            told = f"dropped, as the files were changed while the Dream ran: {error}"
            yield replace(step, outcome="refused", told=told), ""
        else:
            yield step, texts[name]


def fitted(text: str, known: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """``revised``. Also raises ``ToolError`` when a block searches something in lines that are not
    as in the ``known`` text.
    """
    after = revised(text, name, blocks)
    known = edits.unix(known)
    touched: set[str] = set()
    for search, replacement in blocks:
        if search:
            touched |= _touched(known, sought(known, search, replacement))
    if changed := touched - lines(text):
        raise ToolError(f"somebody has changed meanwhile: {formatting.one_line(min(changed))}")
    return after


def _without_known(appended: str, known: set[str]) -> str:
    return "\n".join(line for line in plain(appended).split("\n") if line not in known)


def _touched(text: str, search: str) -> set[str]:
    """The lines, as whole ones, in which ``search`` stands."""
    before, match, after = text.partition(search)
    if not match:
        return set()
    line_begin = before.rpartition("\n")[2]
    line_end = "" if match.endswith("\n") else after.partition("\n")[0]
    return lines(line_begin + match + line_end)


def _refuse_similar(added: str, added_meanwhile: set[str]) -> None:
    """Raises ``ToolError`` when a line of ``added`` shares half of its words with a line that
    somebody has added meanwhile.
    """
    for line in added.split("\n"):
        words = _words(line)
        for other in sorted(added_meanwhile):
            if words and 2 * len(words & _words(other)) >= len(words):
                raise ToolError(f"somebody has written meanwhile: {formatting.one_line(other)}")


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line.lower()))
