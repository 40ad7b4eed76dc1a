"""What the agent still has to see to, told from its own responses in the context.

Everything heard since the last response is open. A response that looked something up (``_OPENING``) settled only the rooms in which it also
spoke: whatever it had to answer in other rooms is still open, now with the result in view. After a crash a notice names the tool lines that
did not run: as many of a room's last messages are open again as there were SAY lines for it among them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dory import toolline
from dory.context import Entry
from dory.records import Call
from dory.standin.reading import LAYERS, Heard, Reading, calls, heard, plain

_OPENING = {"UNCOMPACT", "READ_FILE", "RECALL", "NOTE_READ", *LAYERS}
_TOLD_BY_THE_ANSWER = ("SAY", *_OPENING)
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
            if not undone and _OPENING.isdisjoint(call.tool for call in made):
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
    later = reading.entries[message.place :]
    undone = {title for entry in later if entry.kind == "notice" for title in _undone(entry)}
    made = [call for entry in later if entry.kind == "response" for call in calls(entry) if call.tool in _OPENING]
    return [call for call in made if call.title not in undone]


def written(reading: Reading, message: Heard) -> set[str]:
    """The titles of all tool lines since ``message`` was heard, of any tool, but for those that a crash kept from running."""
    later = reading.entries[message.place :]
    undone = {title for entry in later if entry.kind == "notice" for title in _undone(entry)}
    made = [call for entry in later if entry.kind == "response" for call in toolline.parse(plain(entry.body), reading.tools)]
    return {call.title for call in made} - undone


def outcome(reading: Reading, message: Heard, title: str) -> Entry | None:
    """The result or error of the tool line ``title`` since ``message`` was heard. A header may show the beginning of a long title only."""
    for entry in reading.entries[message.place :]:
        if entry.kind in ("result", "error") and entry.about and title.startswith(entry.about.removesuffix("…")):
            return entry
    return None


def failures(reading: Reading) -> Iterator[tuple[str, str]]:
    """(room, error) for what failed in the last response and no answer will mention; the room is where it spoke last."""
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
    named = _UNDONE.search(notice.body)
    return named[1].split("; ") if named else []
