"""What the agent still has to answer, derived from its own responses in the context.

Every message since the last response is open. A response that looked something up (``OPENING``)
answered only in the rooms in which it also spoke. What it had to answer in other rooms is still
open, now with the result in view. After a crash a notice names the tool lines that did not run. If
there were SAY lines among them, as many of that room's last messages are open again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dory.identity.context import Entry, about, titles
from dory.offline.prompt_reader import OPENING, Heard, Reading, calls, heard, plain
from dory.text import answers
from dory.types import Call

_ANSWER_MENTIONS = ("SAY", *OPENING)
"""The tools whose errors the answer itself mentions."""
_NOT_RUN = re.compile(r"Did not run, and had no effect: (.*)\. Repeat", re.DOTALL)


def unanswered(reading: Reading) -> list[Heard]:
    """The open messages, oldest first."""
    open_in_room: dict[str, int] = {}  # rooms in which a later response spoke
    not_run: list[str] = []
    messages: list[Heard] = []
    for place in range(len(reading.entries) - 1, -1, -1):
        entry = reading.entries[place]
        if entry.kind == "notice":
            not_run += _not_run(entry)
        elif entry.kind == "response":
            made = calls(entry)
            if not not_run and not any(call.tool in OPENING for call in made):
                break
            unsaid = _say_lines(not_run)
            not_run = []
            for room in _say_lines(call.title for call in made):
                open_in_room[room] = unsaid[room]
        elif entry.kind == "heard":
            for message in reversed(list(heard(entry, place))):
                if message.room not in open_in_room:
                    messages.append(message)
                elif open_in_room[message.room]:
                    messages.append(message)
                    open_in_room[message.room] -= 1
    return messages[::-1]


def tried(reading: Reading, message: Heard) -> list[Call]:
    """What was looked up since ``message`` was heard."""
    return [call for call in written(reading, message) if call.tool in OPENING]


def written(reading: Reading, message: Heard) -> list[Call]:
    """All tool lines since ``message`` was heard, without those that a crash kept from running as a
    later notice says.
    """
    made: list[Call] = []
    for entry in reading.entries[message.place :]:
        if entry.kind == "response":
            made += answers.parse(plain(entry.body), reading.tools).calls
        elif entry.kind == "notice":
            not_run = f"; {'; '.join(_not_run(entry))}; "
            made = [call for call in made if f"; {titles([call])}; " not in not_run]
    return made


def outcomes(reading: Reading, message: Heard, wanted: Iterable[Call]) -> list[Entry]:
    """The results and errors of the ``wanted`` calls since ``message`` was heard.

    A header names the tool and the first word after it. If several lines of a response have the
    same header, their outcomes come in the order of the lines.
    """
    wanted_calls = list(wanted)
    waiting: list[Call] = []
    entries: list[Entry] = []
    for entry in reading.entries[message.place :]:
        if entry.kind == "response":
            waiting = list(answers.parse(plain(entry.body), reading.tools).calls)
        elif entry.kind in ("result", "error"):
            call = next((call for call in waiting if about(call) == entry.about), None)
            if call is not None:
                waiting.remove(call)
                if call in wanted_calls:
                    entries.append(entry)
    return entries


def failures(reading: Reading) -> Iterator[tuple[str, str]]:
    """(room, error) for what failed in the last response and no answer will mention. The room is
    the one in which the response spoke last.
    """
    responses = [place for place, entry in enumerate(reading.entries) if entry.kind == "response"]
    if not responses:
        return
    last = responses[-1]
    rooms = list(_say_lines(call.title for call in calls(reading.entries[last])))
    if not rooms:
        return
    for entry in reading.entries[last:]:
        if entry.kind == "error" and not entry.about.startswith(_ANSWER_MENTIONS):
            yield rooms[-1], plain(entry.body)


def _say_lines(titles: Iterable[str]) -> Counter[str]:
    """The number of SAY lines for each room."""
    words_of_titles = [title.split(" ", 2) for title in titles]
    return Counter(words[1] for words in words_of_titles if words[0] == "SAY" and len(words) > 1)


def _not_run(notice: Entry) -> list[str]:
    match = _NOT_RUN.search(plain(notice.body))
    return match[1].split("; ") if match else []
