"""The calls in a text, and texts that hold given calls. Pure.

``answers.py`` says what is read as a call. Here are the calls alone, and the way back.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count

from dory.text import answers
from dory.text.edit_blocks import DIVIDER, REPLACE, SEARCH
from dory.text.thoughts import TAG, as_thought, without_thoughts
from dory.types import Call

__all__ = ["TAG", "as_thought", "parse", "render", "without_thoughts"]


def parse(
    text: str,
    tools: Iterable[str],
    known: Collection[str] = (),
    rooms: Collection[str] = (),
    examples: bool = True,
) -> list[Call]:
    """Return the calls in ``text``, in order. The arguments are as ``answers.parse`` has them."""
    return list(answers.parse(text, tools, known, rooms, examples).calls)


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
