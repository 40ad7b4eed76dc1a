"""What others want done beyond words: tool lines that a person dictates, and memories for another agent that asks for them. Pure.

A person says ``dory-1a2b3c4d, please do: WRITE_DIARY We met Bob today``, or ``dory, …`` where no other agent is called so; without a name it is
meant for the only agent in the room. What is no tool line that the prompt lists is declined. Memories are shared with every agent but one that
the request calls a rival.
"""

import re
from collections.abc import Iterator

from dory.offline import pending
from dory.offline.entries import OPENING, Heard, heard
from dory.offline.prompt_reader import Reading
from dory.text import tool_calls
from dory.text.hidden_arguments import MARK
from dory.types import Call

_SHARE = "NEURAL_LINK_SHARE_MEMORY"
_REQUEST = re.compile(rf"(\S+) asks for your memories: {_SHARE} .*?(?: What it is to you: (.*)\.)?")
_NAMED = re.compile(r"([\w-]+)[,:]\s*")


def address(reading: Reading, message: Heard) -> tuple[str, str]:
    """The agent with whose name ``message`` begins, empty when with none, and what it says to that one. The digits may be missing as long as
    it is the name of one agent in the room.
    """
    found = _NAMED.match(message.text)
    if message.addressee or not found:
        return message.addressee, message.text
    named = [name for name in {reading.name, *_agents(reading, message.room)} if name.rpartition("-")[0].casefold() == found[1].casefold()]
    return (named[0], message.text[found.end() :]) if len(named) == 1 else ("", message.text)


def dictated(reading: Reading, lines: str) -> list[Call]:
    """The tool lines that ``lines`` are; empty when not all of it is tool lines that there are."""
    calls = tool_calls.parse(lines, reading.tools)
    return [] if any(call.error for call in calls) else calls


def meant(reading: Reading, message: Heard) -> bool:
    """Whether what ``message`` dictates is this agent's to run: it is named, or no other agent has spoken in the room."""
    return bool(address(reading, message)[0]) or not any(_agents(reading, message.room))


def left(reading: Reading, message: Heard, calls: list[Call]) -> list[Call]:
    """Those of them that were not written yet, or were kept from running by a crash."""
    written = {call.title for call in pending.written(reading, message)}
    return [call for call in calls if written.isdisjoint((call.title, f"{call.tool} {MARK}"))]


def looking(reading: Reading, message: Heard, lines: str) -> list[Call]:
    """What is left of the tool lines that ``message`` dictates, if one of them looks something up that is to be shown, and none speaks."""
    todo = left(reading, message, dictated(reading, lines)) if meant(reading, message) else []
    tools = {call.tool for call in todo}
    return todo if "SAY" not in tools and not tools.isdisjoint({*OPENING} - {"UNCOMPACT"}) else []  # an original is opened, not shown


def shared(reading: Reading) -> Iterator[Call]:
    """The tool lines with which memories that were asked for since the last response are shared."""
    for entry in reversed(reading.entries):
        if entry.kind == "response":
            return
        asked = _REQUEST.fullmatch(entry.body) if entry.kind == "notice" and _SHARE in reading.tools else None
        if asked and "rival" not in (asked[2] or "").lower():
            yield Call(_SHARE, asked[1])


def _agents(reading: Reading, room: str) -> Iterator[str]:
    """The names of the other agents that spoke in a room."""
    return (one.name for entry in reading.entries if entry.kind == "heard" for one in heard(entry) if one.room == room and one.kind == "AGENT")
