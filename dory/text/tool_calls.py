"""Tool lines for given calls: the way back from ``answers.py``. Pure."""

from collections.abc import Sequence
from itertools import chain, count

from dory.text.edit_blocks import DIVIDER, REPLACE, SEARCH
from dory.types import Call


def render(calls: Sequence[Call]) -> str:
    """Return tool lines that parse back to ``calls``. The delimiter of a body does not occur in the
    body as a line.
    """
    return "\n".join(_rendered(call) for call in calls)


def _rendered(call: Call) -> str:
    if call.body is not None:
        lines = {line.strip("`*_>. \t\r") for line in call.body.split("\n")}
        numbered = (f"END{number}" for number in count(1))
        delimiter = next(mark for mark in chain(["END"], numbered) if mark not in lines)
        return f"{call.title} <<{delimiter}\n{call.body}\n{delimiter}"
    blocks = [
        f"\n{SEARCH}\n{_terminated(search)}{DIVIDER}\n{_terminated(replacement)}{REPLACE}"
        for search, replacement in call.edits
    ]
    return call.title + "".join(blocks)


def _terminated(text: str) -> str:
    return f"{text}\n" if text else ""
