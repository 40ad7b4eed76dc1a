"""Long lists in pieces: what a command such as ``/memories 2`` shows of them."""

import re
from collections.abc import Callable, Sequence

from dory.errors import ToolError

PAGE = 20
"""Lines of a page."""
_NUMBER = re.compile(r"(?:(?P<words>.*\S)\s+)?(?P<page>\d{1,9})", re.DOTALL | re.ASCII)


def wanted(argument: str) -> tuple[str, int]:
    """What somebody wrote behind a command: its words, and the page at their end (otherwise 1)."""
    given = argument.strip()
    match = _NUMBER.fullmatch(given)
    return (match["words"] or "", int(match["page"])) if match else (given, 1)


def page(command: str, total: int, number: int, lines: Callable[[int, int], Sequence[str]]) -> str:
    """Return page ``number`` of a list of ``total`` lines and, if there is more than one page, what
    part this is and how to see the next: "20 of 130; /memories 2".

    ``lines`` takes an offset and a length; ``command`` is what the person writes, without a page.
    Raises ``ToolError`` if there is no such page.
    """
    last = max(1, -(-total // PAGE))
    if not 0 < number <= last:
        raise ToolError(f"there is no page {number}: {command} {last} is the last")
    start = (number - 1) * PAGE
    shown = lines(start, PAGE)
    if last == 1:
        return "\n".join(shown)
    end = start + len(shown)
    part = f"{end} of {total:,}" if number == 1 else f"{start + 1}-{end} of {total:,}"
    further = f"{part}; {command} {number + 1}" if number < last else part
    return "\n".join([*shown, further])
