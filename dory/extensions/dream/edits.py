"""The tool calls of a Dream, which read and edit USER, MEMORY and VOICE. When the Dream is applied,
decides which of its edits still fit the current files. Pure.

If the agent or a person has edited a file while the Dream ran, that edit wins. A replacement or a
removal fits if the text that it searches is still there, in lines that nobody has changed. An
appended line would always fit. So it conflicts with any line that was added to the same file while
the Dream ran and that has at least half of its words: that line most likely says the same, or what
is true now.
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
USAGES = (f"{READ} <path>", f"{EDIT} <path>, then one or more search/replace blocks")
TITLE_LIMIT = 60
"""Characters shown of the first line of a call."""
MAY_BE_MOVED = "what it removes may be what was to be added elsewhere"
_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True, slots=True)
class DreamEdit:
    """One tool call, why it was made, and its outcome. ``message`` is the text of its result."""

    call: Call
    reason: str
    outcome: Literal["changed", "refused", "read"]
    message: str


def file_of(call: Call) -> str:
    """Return the file that a call names. Raises ``ToolError`` unless it is one of the three."""
    if name := durable_name(call.args):
        return name
    given = formatting.one_line(call.args, TITLE_LIMIT)
    raise ToolError(f"a Dream reads and edits {', '.join(DURABLE)} only, not {given!r}")


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file. Raises ``ToolError`` for bytes that are not UTF-8, because writing
    the text back would change them.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(
            f"{name} is no UTF-8 text: nothing was changed; a person has to save it as such"
        ) from None


def revised(text: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """Return what ``replaced`` returns. Also raises ``ToolError`` if nothing would change, or if
    the file would be too long.
    """
    return edits.checked(text, replaced(text, name, blocks), name)


def replaced(text: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """Return the text of a file after the search/replace blocks of one call. Appended lines that
    are in the file already are left out. Raises ``ToolError`` if a block does not fit.
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
    return after


def sought(text: str, search: str, replacement: str) -> str:
    """Return the part of the text that a block replaces. If the block removes whole lines, this
    includes their last line break.
    """
    whole_lines = f"\n{search}\n" in f"\n{edits.unix(text)}"
    if search and not replacement and whole_lines:
        return f"{search}\n"
    return search


def lines(text: str) -> set[str]:
    """Return the lines of a text that are not blank."""
    return {line for line in plain(text).split("\n") if line.strip()}


def plain(text: str) -> str:
    """Return a text without its byte order mark, with Unix line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def replayed(
    steps: Sequence[DreamEdit], snapshot: Mapping[str, str], now: Mapping[str, bytes]
) -> Iterator[tuple[DreamEdit, str]]:
    """Replay the steps of a Dream, which began with ``snapshot``, on the files as they are ``now``.

    Yields each step and the text of its file after it, which is empty if the step changes nothing.
    An edit that does not fit any more is yielded as refused. After an edit that adds text was
    refused, all edits that only remove text are refused too: when the Dream moves a line to another
    file it adds it first, and the removal would lose it.
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
                raise ToolError(MAY_BE_MOVED)
            current = decoded(now.get(name, b""), name)
            added_meanwhile = lines(current) - lines(snapshot.get(name, ""))
            for search, added in blocks:
                if not search:
                    _refuse_similar(added, added_meanwhile)
            texts[name] = fitted(texts.get(name, current), known, name, blocks)
        except ToolError as error:
            addition_refused = addition_refused or adds
            message = f"dropped, as the files were changed while the Dream ran: {error}"
            yield replace(step, outcome="refused", message=message), ""
        else:
            yield step, texts[name]


def fitted(text: str, known: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """Return what ``revised`` returns. Also raises ``ToolError`` if a line that a block changes in
    the ``known`` text is not in ``text`` any more.
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
    """The whole lines of ``text`` that contain the first match of ``search``."""
    before, match, after = text.partition(search)
    if not match:
        return set()
    line_begin = before.rpartition("\n")[2]
    line_end = "" if match.endswith("\n") else after.partition("\n")[0]
    return lines(line_begin + match + line_end)


def _refuse_similar(added: str, added_meanwhile: set[str]) -> None:
    """Raise ``ToolError`` if at least half of the words of a line of ``added`` are in one line that
    somebody has added meanwhile.
    """
    for line in added.split("\n"):
        words = _words(line)
        for other in sorted(added_meanwhile):
            if words and 2 * len(words & _words(other)) >= len(words):
                raise ToolError(f"somebody has written meanwhile: {formatting.one_line(other)}")


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line.lower()))
