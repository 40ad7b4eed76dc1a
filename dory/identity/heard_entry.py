"""The body of a ``heard`` entry. Pure.

    [USER:ada 2026-03-02T12:00:00Z] what was my hotel called?
        I mean the one in Lisbon
    ↳ may belong to this: ◱hash=5d41402abc4b2a76 gist=Ada plans her trip to Lisbon◲ · note lisbon-hotel

Tag and text as they stand in the room, escaped; then, in some, one line of the harness's own, the
*cue*: what of the past the message may belong to. Its references are live. It stands at the first
column, where no line of a message can stand, so nobody can forge one.
"""

import re
from dataclasses import dataclass

from dory.storage.rooms import laid_out
from dory.text import references
from dory.types import Line

_CUE = "\n↳ "
_TAG = re.compile(r"\[(USER|AGENT):(\S+) (\S+)\] ?")


@dataclass(frozen=True, slots=True)
class Heard:
    """What was heard: ``text`` as it was said, ``at`` as its tag says it."""

    kind: str
    name: str
    at: str
    text: str


def body(line: Line, text: str, cue: str) -> str:
    """The body for a line of a room, of which ``text`` is shown. ``cue`` is one line without marks
    from outside, empty for none.
    """
    return f"[{line.kind}:{line.name} {line.at}] {references.escape(laid_out(text))}" + (
        f"{_CUE}{cue}" if cue else ""
    )


def read(body: str) -> Heard:
    """What a body tells of; without a tag all of it is text."""
    message = without_cue(body)
    tag = _TAG.match(message)
    kind, name, at = tag.groups() if tag else ("", "", "")
    lines = references.unescape(message[tag.end() if tag else 0 :]).split("\n")
    return Heard(kind, name, at, "\n".join(line.removeprefix("    ") for line in lines))


def without_cue(body: str) -> str:
    """The body as the message alone makes it."""
    return body.partition(_CUE)[0]
