"""The body of a ``heard`` entry. Pure.

    [USER:ada 2026-03-02T12:00:00Z] what was my hotel called?
        I mean the one in Lisbon
    ↳ may belong to this: ◱hash=5d41402abc4b2a76 gist=Ada plans her trip◲ · note lisbon-hotel

First come tag and text as they stand in the room, escaped. Some entries end with one line of the
harness, the *cue*: what from the past may belong to the message. Its references are live. It begins
at the first column, where no line of a message can begin, so nobody can forge one.
"""

import re
from dataclasses import dataclass

from dory.storage.rooms import A_PERSON, laid_out
from dory.text import references
from dory.types import Line

_CUE = "\n↳ "
_TAG = re.compile(rf"\[(USER|AGENT):({re.escape(A_PERSON)}|\S+) (\S+)\] ?")


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that was heard: ``text`` as it was said, ``at`` as its tag has it."""

    kind: str
    name: str
    at: str
    text: str


def body(line: Line, text: str, cue: str) -> str:
    """Return the body for a line of a room, of which ``text`` is shown. ``cue`` is one line without
    marks from outside, or empty.
    """
    message = f"[{line.kind}:{line.name} {line.at}] {references.escape(laid_out(text))}"
    return f"{message}{_CUE}{cue}" if cue else message


def read(body: str) -> Heard:
    """Return the message in a body. If it has no tag, all of it is text."""
    message = without_cue(body)
    tag = _TAG.match(message)
    kind, name, at = tag.groups() if tag else ("", "", "")
    lines = references.unescape(message[tag.end() if tag else 0 :]).split("\n")
    return Heard(kind, name, at, "\n".join(line.removeprefix("    ") for line in lines))


def without_cue(body: str) -> str:
    """Return the body without its cue."""
    return body.partition(_CUE)[0]
