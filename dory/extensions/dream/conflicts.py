"""Which changes of a Dream still fit the files as they are by then: the newer edit, that of the agent or of a person, wins. Pure.

A replacement or a removal fits while what it searches stands there, in lines that nobody has changed. A line that is appended would fit
always; it conflicts with a line that was added to the same file while the Dream ran and has at least half of its words, for that most likely
tells the same, or what is so now.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dory.errors import ToolError
from dory.extensions.dream.edits import Step, decoded, file_of, lines, revised, sought
from dory.text import edits, references

_WORD = re.compile(r"[^\W_]{3,}")


def replayed(steps: Sequence[Step], snapshot: Mapping[str, str], now: Mapping[str, bytes]) -> Iterator[tuple[Step, str]]:
    """The steps, each with the text of its file after it, empty for what is no change; those edits refused that do not fit the files as they
    are ``now``; and once one that adds text is, those that only remove some, for a line that moves from one file to another is added first.
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
            yield replace(step, outcome="refused", told=f"dropped, as the files were changed while the Dream ran: {error}"), ""


def fitted(text: str, known: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """``revised``. Raises ``ToolError``, too, when what a block searches does not stand in lines that are as in the ``known`` text."""
    after, known = revised(text, name, blocks), edits.unix(known)
    touched = set[str]().union(*(_touched(known, sought(known, *block)) for block in blocks if block[0]))
    if changed := touched - lines(text):
        raise ToolError(f"somebody has changed meanwhile: {references.one_line(min(changed))}")
    return after


def _touched(text: str, search: str) -> set[str]:
    """The lines, as whole ones, in which ``search`` stands."""
    before, found, after = text.partition(search)
    rest = "" if found.endswith("\n") else after.partition("\n")[0]
    return lines(before.rpartition("\n")[2] + found + rest) if found else set()


def _compare(added: str, meanwhile: set[str]) -> None:
    """Raises ``ToolError`` when a line of ``added`` is much like one that somebody has written ``meanwhile``."""
    for line in added.split("\n"):
        words = _words(line)
        rival = next((other for other in sorted(meanwhile) if words and 2 * len(words & _words(other)) >= len(words)), None)
        if rival is not None:
            raise ToolError(f"somebody has written meanwhile: {references.one_line(rival)}")


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line.lower()))
