"""The text of an answer, read from its beginning to its end. Pure."""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate

from dory.text.loose_json import Text
from dory.text.thoughts import OPENING, Thoughts, mentioned

_BLANK = re.compile(r"(?:[ \t\r]*+\n)++")


class Source:
    """A text and the place ``at`` which it is being read. Places are in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.at = 0
        self._found: dict[re.Pattern[str], tuple[int, re.Match[str] | None]] = {}

    @property
    def remaining(self) -> bool:
        """Whether anything is left to read."""
        return self.at < len(self.text)

    @property
    def line(self) -> str:
        """The rest of the line that is being read, without its end."""
        return self.text[self.at : self.line_end(self.at)]

    @property
    def row(self) -> int:
        """The number of the line that is being read, from 0."""
        return bisect_right(self._starts, self.at) - 1

    @property
    def number(self) -> int:
        """The same, from 1."""
        return self.row + 1

    def number_at(self, place: int) -> int:
        """The number of the line of ``place``, from 1."""
        return bisect_right(self._starts, place)

    def start_of(self, row: int) -> int:
        """Where a line begins, counted from 0; behind the last one, the end of the text."""
        return min(self._starts[min(row, len(self._starts) - 1)], len(self.text))

    def line_end(self, place: int) -> int:
        """The end of the line of ``place``."""
        end = self.text.find("\n", place)
        return len(self.text) if end < 0 else end

    def take(self) -> None:
        """Go to the next line."""
        self.at = min(self.line_end(self.at) + 1, len(self.text))

    def take_blank(self) -> bool:
        """Go behind the blank lines that begin here; whether there are any."""
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        return bool(blank)

    def go_to_row(self, row: int) -> None:
        """Go to the beginning of a line, counted from 0."""
        self.at = self.start_of(row)

    def thought(self, start: int, line: str, framed: bool) -> tuple[int, int | None] | None:
        """Where the first thought of the ``line`` at ``start`` begins and ends. One without an end
        is none after other text if it is only mentioned, or ``framed`` by a code block. To be asked
        from the first line to the last.
        """
        first = bisect_left(self._openings, start, key=re.Match.start)
        for number in range(first, len(self._openings)):
            opening = self._openings[number]
            place = opening.start()
            if place >= start + len(line):
                break
            end = self._thoughts.end(opening)
            bare = not self.text[start:place].strip()
            if end is not None or bare or not (framed or mentioned(self.text, opening)):
                return place, end
        return None

    def search(self, pattern: re.Pattern[str], at: int) -> re.Match[str] | None:
        """The first match that begins at ``at`` or later. It is kept: a text may ask for the same
        end, or for one that is not there, in every line.
        """
        begin, found = self._found.get(pattern, (at + 1, None))
        if begin > at or (found and found.start() < at):
            found = pattern.search(self.text, at)
            self._found[pattern] = (at, found)
        return found

    def last_row_of(self, line: str) -> int:
        """The number of the last line that is ``line`` but for white space behind it; -1 if there
        is none.
        """
        return self._last_rows.get(line, -1)

    @cached_property
    def json(self) -> Text:
        """The text for whoever looks for JSON in it at many places."""
        return Text(self.text)

    @cached_property
    def _openings(self) -> list[re.Match[str]]:
        return list(OPENING.finditer(self.text))

    @cached_property
    def _thoughts(self) -> Thoughts:
        return Thoughts(self.text)

    @cached_property
    def _last_rows(self) -> dict[str, int]:
        return {line.rstrip(): row for row, line in enumerate(self.lines)}
