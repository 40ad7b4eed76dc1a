"""The diary, and the agent's mood and place: the tools with which it writes, finds and reads, and
what people may see of that.

Mood and place are part of the agent's state, so they are committed with the outcome of the tool
that sets them. A day's file is written before that commit; after a kill, what stands in the file
tells whether it was written. What has changed in the files is indexed between turns, a bounded part
at a time: what the agent writes at once, what people edit within about a minute. Days are those of
UTC.
"""

import re
from datetime import date, datetime, timedelta
from functools import partial

from dory.errors import DoryError, FormatError, ToolError
from dory.extensions.diary.store import Diary, Entry
from dory.identity.identity import Identity
from dory.identity.state import HOME
from dory.text import formatting
from dory.turn.extension import Command, Extension, Outcome, PartlyDone, Tool, Work
from dory.turn.lessons import guidance, taught
from dory.types import Call

WORDS = 80
"""Characters of a mood, and of a place."""
AT_ONCE = 32
"""Files that are indexed between two turns."""
FOR_A_SEARCH = 500
"""Files that are indexed before a search."""
LOOK = timedelta(minutes=1)
"""After this time the files are compared with the index again, since people may edit them."""
_FOUND = 10
"""Days in the answer to a search."""
_LISTED = 10
"""Days in the list for people."""
_DAMAGED = 3
"""Damaged files that are named at once."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class DiaryExtension(Extension):
    """The diary, mood and place of one identity. ``limit``: characters of one result."""

    name = "diary"
    freshness = "epoch"

    def __init__(self, identity: Identity, diary: Diary, limit: int) -> None:
        self._identity = identity
        self._diary = diary
        self._limit = limit
        self._looked: datetime | None = None
        self._behind = True

    def section(self) -> str:
        """Place and mood. The results of the tools tell of changes within an epoch."""
        state = self._identity.state
        place = formatting.one_line(state.place, WORDS)
        mood = f"; your mood: {formatting.one_line(state.mood, WORDS)}" if state.mood else ""
        return f"You are at {place}{mood}. WRITE_DIARY keeps what a day was like, with both."

    def write(self, call: Call) -> Outcome:
        """An entry of today."""
        state = self._identity.state
        now = self._identity.now()
        text = self._identity.redact(call.given)
        count = self._diary.write(Entry(text, f"{now:%H:%M}", state.mood, state.place), now.date())
        self._behind = True
        return Outcome(f"written into your diary, entry {count} of {now.date()}")

    def search(self, call: Call) -> Outcome:
        """The days that fit best."""
        words = call.given
        if not words.strip():
            raise ToolError("what are you looking for? write SEARCH_DIARY_FOR_KEYWORDS <words>")
        left = self._diary.refresh(FOR_A_SEARCH)
        hits = self._diary.search(words, _FOUND)
        days = {0: "no day", 1: "1 day"}.get(len(hits), f"{len(hits)} days")
        lines = [f'{days} of your diary for "{formatting.one_line(words)}"']
        for number, hit in enumerate(hits, 1):
            day = date.fromordinal(hit.document.origin)
            snippet = formatting.one_line(hit.snippet, 500).replace("->", "→")
            lines.append(f"{number}. {day}: {snippet} -> SHOW_DIARY_ENTRIES_FROM_DAY {day}")
        lines += [f"not searched: {damage}" for damage in self._diary.damage()[:_DAMAGED]]
        if left:
            lines.append(f"{left} more days are not searched yet: search again")
        return Outcome("\n".join(lines))

    def read(self, call: Call) -> Outcome:
        """As much of a day as a result may have, and where the rest is."""
        text = self.show(call.args)
        if len(text) <= self._limit:
            return Outcome(text)
        kept = text[: self._limit]
        whole_entries = max(kept.count("\n\n") - 1, 0)
        line = 5 + 6 * whole_entries  # as the file of a day is laid out
        return Outcome(
            f"{kept}\n… cut at {self._limit} characters;"
            f" go on with READ_FILE diary/{call.args}.json {line}-"
        )

    def show(self, day: str) -> str:
        """The entries of one day. If there are none, raises a ``ToolError`` that names the nearest
        days.
        """
        wanted = self._date(day)
        today = self._identity.now().date()
        if entries := self._diary.entries(wanted):
            return "\n\n".join([f"your diary of {wanted}", *map(str, entries)])
        if wanted > today:
            raise ToolError(f"{wanted} is still to come: today is {today}")
        days = self._diary.days()
        before = [known for known in days if known < wanted]
        after = [known for known in days if known > wanted]
        near = ", ".join(map(str, [*before[-1:], *after[:1]]))
        rest = f"near it: {near}" if near else "it is empty yet"
        raise ToolError(f"nothing stands in your diary of {wanted}; {rest}")

    def listed(self, day: str) -> str:
        """For people: a day, or a line for each of the newest."""
        if day:
            return self.show(day)
        newest = reversed(self._diary.days()[-_LISTED:])
        lines = [f"{known}  {self._beginning(known)}" for known in newest]
        return "\n".join(lines) or "the diary is empty yet"

    def feel(self, call: Call) -> Outcome:
        """Another mood."""
        state = self._identity.state
        mood = self._identity.redact(_words(call, "how are you? write SET_MOOD <mood>"))
        if mood == state.mood:
            raise ToolError(f"your mood is {mood} already")
        state.mood = mood
        return Outcome(f"your mood is {mood} now")

    def go(self, call: Call) -> Outcome:
        """To another place."""
        return self._go(_words(call, "where to? write GO_TO_PLACE <place>"))

    def go_home(self, _: Call) -> Outcome:
        """Back home."""
        return self._go(HOME)

    def background(self) -> Work | None:
        """Index what has changed, some of it at once."""
        now = self._identity.now()
        if self._looked is None or abs(now - self._looked) >= LOOK:  # a clock may be put back
            self._looked = now
            looking = self._diary.looking()
            return lambda: partial(self._saw, looking())
        if self._behind:
            self._behind = self._diary.refresh(AT_ONCE) > 0
            if damage := self._diary.damage():
                raise PartlyDone from FormatError("; ".join(damage[:_DAMAGED]))
        return None

    def _saw(self, looks: dict[int, str]) -> None:
        self._diary.saw(looks)
        self._behind = True

    def _go(self, place: str) -> Outcome:
        state = self._identity.state
        place = self._identity.redact(place)
        if place.lower() == HOME:
            place = HOME
        if place == state.place:
            raise ToolError(f"you are at {place} already")
        state.place = place
        return Outcome(f"you are at {place} now")

    def _beginning(self, day: date) -> str:
        try:
            entries = self._diary.entries(day)
        except DoryError as error:
            return str(error)
        return " · ".join(formatting.one_line(entry.text, 60) for entry in entries[:2])

    def _date(self, text: str) -> date:
        try:
            wanted = date.fromisoformat(text) if _DATE.fullmatch(text) else None
        except ValueError:
            wanted = None
        if wanted is None:
            today = self._identity.now().date()
            raise ToolError(
                f"{text[:40]!r} is no date: write one that there is as YYYY-MM-DD, such as {today}"
            )
        return wanted

    def _mark(self, call: Call) -> str:
        """Today, and how many entries it has."""
        today = self._identity.now().date()
        try:
            return f"{today} {len(self._diary.entries(today))}"
        except DoryError:  # the tool itself will say what is wrong with the file
            return ""

    def _written(self, call: Call, mark: str) -> bool:
        """Whether the text stands behind what stood there, or on the next day, if midnight came
        between the mark and the tool.
        """
        if not mark:
            return False
        first, _, count = mark.partition(" ")
        day = date.fromisoformat(first)
        try:
            later = self._diary.entries(day)[int(count) :]
            next_day = self._diary.entries(day + timedelta(days=1))
        except DoryError:  # then nobody can tell
            return False
        text = self._identity.redact(call.given)
        return any(entry.text == text for entry in [*later, *next_day])

    GUIDANCE = guidance(__file__)
    TOOLS = taught(
        __file__,
        Tool(
            "WRITE_DIARY <text>",
            write,
            _mark,
            _written,
            quiet=True,
            everyday=True,
            doing="writes the diary",
        ),
        Tool(
            "SEARCH_DIARY_FOR_KEYWORDS <words>", search, looks_up=True, doing="searches the diary"
        ),
        Tool(
            "SHOW_DIARY_ENTRIES_FROM_DAY <YYYY-MM-DD>", read, looks_up=True, doing="reads the diary"
        ),
        Tool("SET_MOOD <mood>", feel, quiet=True, doing="feels {}"),
        Tool("GO_TO_PLACE <place>", go, quiet=True, doing="goes to {}"),
        Tool("GO_HOME", go_home, quiet=True, doing="goes home"),
    )
    COMMANDS = (
        Command(
            "/diary [YYYY-MM-DD]  what the agent wrote on a day; without one, the newest days",
            listed,
            private=True,
        ),
    )


def _words(call: Call, question: str) -> str:
    """A few words on one line. Raises ``ToolError`` with the ``question`` if there are none."""
    words = formatting.one_line(call.given, WORDS + 1)
    if not words:
        raise ToolError(question)
    if len(words) > WORDS:
        raise ToolError(
            f"that is too long: at most {WORDS} characters, the rest belongs in your diary"
        )
    return words
