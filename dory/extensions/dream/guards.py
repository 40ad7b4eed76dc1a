"""Which edits a Dream may not make, though they fit the file. Pure.

- What was removed on purpose does not come back, and what was put back on purpose does not go, on
  the word of old history: a stretch that began later has to say it again. The times are those of
  stretches, so what was said in the stretch in which somebody removed it counts as older.
- At most a third of a file goes in one Dream. Counted are the characters of the words that stand
  nowhere in the file any more; a line that stands in another of the files was moved and is not
  lost. A file of less than 300 characters is free: a third of it is a line or two. A person may
  lift this limit for one Dream.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from dory import clock
from dory.errors import ToolError
from dory.extensions.dream import edits
from dory.extensions.dream.deliberate import Dated
from dory.extensions.dream.history import Item
from dory.text import formatting, grounding

SMALL = 300
"""Characters. A file with fewer may lose all."""
_SHARE = 3
"""One part in three of a file may go."""
_ALIKE = 0.75
"""The share of salient words that two lines have in common when they say the same."""
_LEAST = 0.001
"""By so much two likenesses differ at least if they differ."""
_SAYS, _SPEAKS_OF = 0.6, 0.5
"""The share of a line's salient words that one line of a stretch has when it says the same, and
when it speaks of it ("forget about my cat").
"""
_SHOWN = 80
"""Characters of a line in a message."""
_STRETCH = re.compile(r"- (\d{4}-\d\d-\d\d \d\d:\d\d) to ")
_BULLET = re.compile(r"\n(?=- )")
_TOKEN = re.compile(r"[\u0e00-\U0010ffff]|[^\W\u0e00-\U0010ffff]+|[^\w\s]")


class Excess(ToolError):
    """An edit would remove too much of a file."""


class Purposes:
    """What was done on purpose, against what the new history says."""

    def __init__(
        self, removed: Sequence[Dated], restored: Sequence[Dated], items: Sequence[Item]
    ) -> None:
        self._removed = [(dated, grounding.salient(dated.line)) for dated in removed]
        self._restored = restored
        self._stretches = [
            (match[1], [grounding.salient(line) for line in bullet.split("\n")])
            for item in items
            for bullet in _BULLET.split(item.content)
            if (match := _STRETCH.match(bullet))
        ]

    def check(self, name: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        """Raise ``ToolError`` if an edit of the file ``name``, from the texts ``before`` to those
        ``after``, brings back what was removed, or removes what was put back.
        """
        was, now = edits.lines(before.get(name, "")), edits.lines(after.get(name, ""))
        standing = {line for text in before.values() for line in edits.lines(text)}
        for line in sorted(now - was):
            self._check_added(name, line, standing, was - now)
        elsewhere = {
            line for other, text in after.items() if other != name for line in edits.lines(text)
        }
        self._check_removed(name, was - now - elsewhere, now - was)

    def _check_added(
        self, name: str, line: str, standing: Collection[str], replaced: Collection[str]
    ) -> None:
        words = grounding.salient(line)
        nearest = max((_likeness(words, grounding.salient(old)) for old in replaced), default=0.0)
        for dated, removed_words in self._removed:
            if dated.name != name and dated.line in standing:
                continue  # it was moved from that file to another
            likeness = _likeness(words, removed_words)
            # a line that the edit only rewords may be as like to it
            same = line.strip() == dated.line.strip() or likeness >= max(_ALIKE, nearest + _LEAST)
            if same and not self._told(words, dated, _SAYS):
                raise ToolError(
                    f"{_shown(dated.line)} was taken out of {dated.name} on"
                    f" {clock.minute(dated.at)}, and no newer history says it again: nothing was"
                    " changed; leave it out"
                )

    def _check_removed(self, name: str, gone: Collection[str], added: Collection[str]) -> None:
        for dated in self._restored:
            if dated.name != name or dated.line not in gone:
                continue
            words = grounding.salient(dated.line)
            kept = any(words <= grounding.salient(line) for line in added)
            if not kept and not self._told(words, dated, _SPEAKS_OF):
                raise ToolError(
                    f"{_shown(dated.line)} was put back into {name} on {clock.minute(dated.at)},"
                    " and no newer history speaks of it: nothing was changed; leave it there"
                )

    def _told(self, words: Collection[str], dated: Dated, share: float) -> bool:
        """Whether a stretch that began after that time has a line with this share of the words."""
        since = clock.minute(dated.at)
        return any(
            len(grounding.shared(words, said)) >= max(1, share * len(words))
            for began, lines in self._stretches
            if began > since
            for said in lines
        )


def check_share(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Raise ``Excess`` if more than a third of the file ``name`` would be gone, from the texts
    before a Dream to those ``after`` an edit.
    """
    text = edits.plain(before.get(name, ""))
    if len(text) < SMALL:
        return
    elsewhere = {
        line for other, moved in after.items() if other != name for line in edits.lines(moved)
    }
    kept = "\n".join(line for line in text.split("\n") if line not in elsewhere)
    gone = _tokens(kept) - _tokens(after.get(name, ""))
    total = _size(_tokens(text))
    if _SHARE * _size(gone) > total:
        raise Excess(
            f"{100 * _size(gone) // total} percent of {name} would be gone in this Dream, it may"
            " be a third at most: nothing was changed; remove less, and what matters least"
        )


def _likeness(first: set[str], second: set[str]) -> float:
    """The share of words that two lines have in common; 0 if a number differs."""
    if not first or not second or _numbers(first) != _numbers(second):
        return 0.0
    return len(first & second) / len(first | second)


def _numbers(words: set[str]) -> set[str]:
    return {word for word in words if any(character.isdigit() for character in word)}


def _tokens(text: str) -> Counter[str]:
    """The words of a text; in scripts without spaces, its characters."""
    return Counter(_TOKEN.findall(text))


def _size(tokens: Counter[str]) -> int:
    return sum(len(token) * count for token, count in tokens.items())


def _shown(line: str) -> str:
    return f"“{formatting.one_line(line, _SHOWN)}”"
