"""What was removed from the durable texts, or put back, at any time and by anybody: the history of
their versions tells it, so no other record is kept.

A *removed* line stood in a file once and does not stand there any more. A *restored* line was
removed, and stands there again. All of them bind the edits of a Dream (``guards.py``). The prompt
has room for some only, so it shows those that the new history may be about: history is late, and
may tell of something that somebody took out long before its stretch left the context.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from dory import clock
from dory.extensions.dream import dreams, edits
from dory.extensions.dream.versions import Versions
from dory.text import formatting, grounding

SHOWN = 50
"""Removed lines, and restored ones, that a prompt shows."""
_UNDONE_SHOWN = 20
"""Lines shown of a Dream that a person took back."""
_LINE_LIMIT = 300
"""Characters of each of these."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A line of the file ``name``, and when it was removed or put back."""

    name: str
    line: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Deliberate:
    """All removed and all restored lines, the newest first, and what a person took back of the
    latest Dream, in words for the prompt; empty if nobody did.
    """

    removed: Sequence[Dated] = ()
    restored: Sequence[Dated] = ()
    undone: str = ""


def known(versions: Versions) -> Deliberate:
    """What the versions tell. Looks at all of them, so it takes a while. Raises ``VersionError``.

    A line that stands in another file is a removed one as well: it may have been moved there on
    purpose.
    """
    removed: dict[tuple[str, str], datetime] = {}
    restored: dict[tuple[str, str], datetime] = {}
    added: dict[tuple[str, str], datetime] = {}
    standing = {
        (name, line)
        for name, text in versions.contents(versions.head()).items()
        for line in edits.lines(text)
    }
    for version, name, before, after in versions.changes():
        lines_before, lines_after = edits.lines(before), edits.lines(after)
        for line in sorted(lines_after - lines_before):
            added.setdefault((name, line), version.at)
        for line in sorted(lines_before - lines_after):
            if (name, line) not in standing:
                removed.setdefault((name, line), version.at)
            elif (name, line) in added:
                restored.setdefault((name, line), added[name, line])
    return Deliberate(_dated(removed), _dated(restored), _undone(versions))


def resembling(lines: Sequence[Dated], history: str, limit: int = SHOWN) -> list[Dated]:
    """Those that share the most words with the history, at most ``limit``, in the given order. A
    word counts the less, the more of the lines have it: most name the same people.
    """
    if len(lines) <= limit:
        return list(lines)
    said = grounding.salient(history)
    words = [grounding.salient(dated.line) for dated in lines]
    common = grounding.shared({word for each in words for word in each}, said)
    lines_with = Counter(word for each in words for word in each)
    shares = [sum(1 / lines_with[word] for word in each & common) for each in words]
    ranked = sorted(range(len(lines)), key=lambda place: -shares[place])  # stable: newest first
    return [lines[place] for place in sorted(ranked[:limit])]


def _dated(lines: dict[tuple[str, str], datetime]) -> list[Dated]:
    newest_first = sorted(lines.items(), key=lambda entry: entry[1], reverse=True)
    return [Dated(name, line, at) for (name, line), at in newest_first]


def _undone(versions: Versions) -> str:
    """What a person took back of the latest Dream; empty if that still holds."""
    dream = dreams.latest(versions)
    undoing = dreams.taken_back(versions, dream) if dream else None
    if not dream or not undoing:
        return ""
    before = _named(versions.contents(dream.first.before))
    after = _named(versions.contents(dream.last.sha))
    lines = [f"+ {line}" for line in after if line not in before]
    lines += [f"− {line}" for line in before if line not in after]
    more = len(lines) - _UNDONE_SHOWN
    shown = [formatting.one_line(line, _LINE_LIMIT) for line in lines[:_UNDONE_SHOWN]]
    if more > 0:
        shown.append(f"and {more} more")
    listed = "\n".join(shown)
    return (
        f"A person took back, on {clock.minute(undoing.at)}, what you had changed in your Dream of"
        f" {clock.minute(dream.last.at)}. This stands as it did before that Dream; do not change"
        f" it in that way again unless newer history says so:\n{listed}"
    )


def _named(texts: dict[str, str]) -> list[str]:
    return [f"{name}: {line}" for name, line in _lines(texts)]


def _lines(texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in texts.items():
        for line in edits.plain(text).split("\n"):
            if line.strip():
                yield name, line
