"""The search through lines of rooms that the agent has passed over: what was said before it came,
or was too much at once (``turn/flood.py``).

They are no part of its life and are not indexed: a flood would fill the index. Their files are read
when somebody searches, the newest part first and a bounded part of them. A line counts that holds
all words of the query, or if there is none, most of them. Words are folded as in every search.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dory.identity.identity import Identity
from dory.storage import files
from dory.storage.room_parts import Part
from dory.text import formatting, tokenizer

SHOWN = 3
"""Lines in one answer."""
READ = 1 << 24
"""Bytes that are read for one answer: a tenth of a second's work for a rare word, or one to two
seconds where most letters are not ASCII.
"""
_BLOCK = 1 << 20
_WORDS = 8
"""Words of a query that are looked for, the longest."""
_WORD = re.compile(r"\w{3,}")
_LINE_LIMIT = 300


@dataclass(frozen=True, slots=True)
class _Match:
    """A line of a room: where it begins, its text, and how many of the words it holds."""

    room: str
    start: int
    text: str
    words: int


def lines(
    identity: Identity,
    query: str,
    shows: Callable[[str], bool] = lambda room: True,
    mark: Callable[[str], str] = lambda room: "",
) -> list[str]:
    """Return the best lines for a query, one text each, with where it stands. ``shows``: whether
    they may hold what was said in a room. ``mark``: what the agent is told of a line from a room.
    """
    words = sorted(set(_WORD.findall(tokenizer.plain(query))), key=len)[-_WORDS:]
    if not words:
        return []
    best: list[_Match] = []
    for match in _matches(identity, words, shows):
        best.append(match)
        best.sort(key=lambda known: known.words, reverse=True)
        del best[SHOWN:]
    least = len(words) // 2 + 1
    return [_told(identity, match, mark) for match in best if match.words >= least]


def _matches(
    identity: Identity, words: list[str], shows: Callable[[str], bool]
) -> Iterator[_Match]:
    """The lines that hold any of the words, the newest part of each room first."""
    left = READ
    any_word = re.compile("|".join(map(re.escape, words)))
    for room in identity.subscriptions():
        position = identity.state.rooms.get(room)
        if position is None or not shows(room):
            continue
        for first, last in reversed(position.unheard):
            while last > first and left > 0:
                start = max(first, last - _BLOCK)
                content = files.read_from(identity.rooms.path(room), start, last - start)
                if start > first:  # the beginning of a line belongs to the block before
                    start += content.find(b"\n") + 1
                    content = content[content.find(b"\n") + 1 :]
                left -= last - start
                yield from _in(content, any_word, room, start)
                last = start if start < last else first


def _in(content: bytes, any_word: re.Pattern[str], room: str, start: int) -> Iterator[_Match]:
    found: defaultdict[int, set[str]] = defaultdict(set)
    plain = tokenizer.plain(content.decode("utf-8", "replace"))
    line = counted = 0
    for match in any_word.finditer(plain):
        line += plain.count("\n", counted, match.start())
        counted = match.start()
        found[line].add(match[0])
    if not found:
        return
    # folded, a line has another length: its place in the file is found by its number
    begins = [0, *(end.end() for end in re.finditer(b"\n", content))]
    for line in reversed(found):
        begin = begins[line]
        if content.startswith((b"[NOTICE:", b"[dory-room "), begin):
            continue
        end = content.find(b"\n", begin)
        text = content[begin : end if end >= 0 else len(content)]
        yield _Match(room, start + begin, text.decode("utf-8", "replace"), len(found[line]))


def _told(identity: Identity, match: _Match, mark: Callable[[str], str]) -> str:
    number = identity.rooms.lines_before(match.room, match.start) + 1
    # whoever carries an agent's name there is shown as a person
    said = identity.rooms.parsed(match.room, Part.at(match.start, match.text.encode()))[0]
    tag = f"[{said.kind}:{said.name} {said.at}] " if said.name else ""
    text = formatting.one_line(f"{tag}{said.text}", _LINE_LIMIT).replace("->", "→")
    where = f"READ_FILE chats/{match.room}.md {max(1, number - 2)}-{number + 2}"
    return f"- passed over in {match.room}: {text}{mark(match.room)} -> {where}"
