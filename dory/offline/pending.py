"""What the agent still has to see to, told from its own responses in the context.

Everything heard since the last response is open. A response that looked something up (``OPENING``)
settled only the rooms in which it also spoke: whatever it had to answer in other rooms is still
open, now with the result in view. After a crash a notice names the tool lines that did not run: as
many of a room's last messages are open again as there were SAY lines for it among them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dory.identity.context import Entry, about, titles
from dory.offline.prompt_reader import OPENING, Heard, Reading, calls, heard, plain
from dory.text import tool_calls
from dory.types import Call

_TOLD_BY_THE_ANSWER = ("SAY", *OPENING)
_UNDONE = re.compile(r"Did not run, and had no effect: (.*)\. Repeat", re.DOTALL)


def unanswered(reading: Reading) -> list[Heard]:
    """The messages that are open, oldest first."""
    left: dict[str, int] = {}
    undone: list[str] = []
    found: list[Heard] = []
    for place in range(len(reading.entries) - 1, -1, -1):
        entry = reading.entries[place]
        if entry.kind == "notice":
            undone += _undone(entry)
        elif entry.kind == "response":
            made = calls(entry)
            if not undone and not any(call.tool in OPENING for call in made):
                break
            unsaid, undone = _rooms(undone), []
            left |= {room: unsaid[room] for room in _rooms(call.title for call in made)}
        elif entry.kind == "heard":
            for message in reversed(list(heard(entry, place))):
                if left.get(message.room, 1):
                    found.append(message)
                    if message.room in left:
                        left[message.room] -= 1
    return found[::-1]


def tried(reading: Reading, message: Heard) -> list[Call]:
    """What was looked up since ``message`` was heard."""
    return [call for call in written(reading, message) if call.tool in OPENING]


def written(reading: Reading, message: Heard) -> list[Call]:
    """All tool lines since ``message`` was heard, but for those of which a later notice says that a
    crash kept them from running.
    """
    made: list[Call] = []
    for entry in reading.entries[message.place :]:
        if entry.kind == "response":
            made += tool_calls.parse(plain(entry.body), reading.tools)
        elif entry.kind == "notice":
            undone = f"; {'; '.join(_undone(entry))}; "
            made = [call for call in made if f"; {titles([call])}; " not in undone]
    return made


def outcomes(reading: Reading, message: Heard, made: Iterable[Call]) -> list[Entry]:
    """The results and errors of these tool lines since ``message`` was heard. Their headers name
    the tool and the first word behind it; of several lines that begin so, they come in the order of
    the lines.
    """
    wanted, waiting, found = list(made), list[Call](), list[Entry]()
    for entry in reading.entries[message.place :]:
        if entry.kind == "response":
            waiting = tool_calls.parse(plain(entry.body), reading.tools)
        elif entry.kind in ("result", "error") and (
            call := next((one for one in waiting if about(one) == entry.about), None)
        ):
            waiting.remove(call)
            found += [entry] * (call in wanted)
    return found


def failures(reading: Reading) -> Iterator[tuple[str, str]]:
    """(room, error) for what failed in the last response and no answer will mention; the room is
    where it spoke last.
    """
    responses = [place for place, entry in enumerate(reading.entries) if entry.kind == "response"]
    if not responses:
        return
    spoken = list(_rooms(call.title for call in calls(reading.entries[responses[-1]])))
    for entry in reading.entries[responses[-1] :]:
        if spoken and entry.kind == "error" and not entry.about.startswith(_TOLD_BY_THE_ANSWER):
            yield spoken[-1], plain(entry.body)


def _rooms(titles: Iterable[str]) -> Counter[str]:
    """How many SAY lines there are for each room."""
    said = (title.split(" ", 2) for title in titles)
    return Counter(words[1] for words in said if words[0] == "SAY" and len(words) > 1)


def _undone(notice: Entry) -> list[str]:
    named = _UNDONE.search(plain(notice.body))
    return named[1].split("; ") if named else []
