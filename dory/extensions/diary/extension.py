"""The diary, and the agent's mood and place: the tools with which it writes, finds and reads, and
what people may see of that.

Mood and place are part of the agent's state, so they are committed with the outcome of the tool
that sets them. They stand in the line of the prompt that is true now (``extensions/present.py``).
An entry of today has them as they are, unless it names others.

A day's file is written before the commit of the outcome; after a kill, what stands in the file
tells whether it was written. What has changed in the files is indexed between turns, a bounded part
at a time: what the agent writes at once, what people edit within about a minute. Days are those of
the clock on the wall (``clock.wall``).
"""

import re
from datetime import date, datetime, timedelta
from functools import partial

from dory import clock
from dory.errors import DoryError, FormatError, ToolError
from dory.extensions.diary.reading import WORDS, real_day, too_long, written
from dory.extensions.diary.store import Diary, Entry
from dory.identity.identity import Identity
from dory.identity.state import HOME
from dory.text import formatting, pages
from dory.turn.extension import Command, Extension, Outcome, PartlyDone, Tool, Work
from dory.turn.lessons import guidance, taught
from dory.types import Call

AT_ONCE = 32
"""Files that are indexed between two turns."""
FOR_A_SEARCH = 500
"""Files that are indexed before a search."""
LOOK = timedelta(minutes=1)
"""After this time the files are compared with the index again, since people may edit them."""
_FOUND = 10
"""Days in the answer to a search."""
_DAMAGED = 3
"""Damaged files that are named at once."""
_DAY_NAMED = re.compile(r"\d{4}-\d\d-\d\d|today|yesterday", re.ASCII | re.IGNORECASE)


class DiaryExtension(Extension):
    """The diary, mood and place of one identity. ``limit``: characters of one result."""

    name = "diary"

    def __init__(self, identity: Identity, diary: Diary, limit: int) -> None:
        self._identity = identity
        self._diary = diary
        self._limit = limit
        self._looked: datetime | None = None
        self._behind = True

    def present(self) -> str:
        """Place and mood as they are now, and how far the diary is."""
        state = self._identity.state
        mood = f" Mood: {formatting.one_line(state.mood, WORDS)}." if state.mood else ""
        newest = self._diary.newest
        written = f"newest day {newest}" if newest else "empty"
        return f"You are at {formatting.one_line(state.place, WORDS)}.{mood} Your diary: {written}."

    def write(self, call: Call) -> Outcome:
        """An entry of today, or of the day that is named."""
        now = clock.wall(self._identity.now())
        day, text, fields = self._read(call)
        state = self._identity.state
        if day in (None, now.date()):
            about = {"mood": state.mood, "place": state.place, **fields}
            entry = Entry(text, f"{now:%H:%M}", **about)
        elif day > now.date():
            raise ToolError(f"{day} is still to come: today is {now.date()}")
        else:  # nobody knows any more how it felt and where it was
            entry = Entry(text, f"written on {now:%Y-%m-%d %H:%M}", **fields)
        count = self._diary.write(entry, day or now.date())
        self._behind = True
        return Outcome(f"written into your diary, entry {count} of {day or now.date()}")

    def search(self, call: Call) -> Outcome:
        """The days that fit best."""
        words = call.given
        if not words.strip():
            raise ToolError("what are you looking for? write SEARCH_DIARY_FOR_KEYWORDS <words>")
        left = self._diary.refresh(FOR_A_SEARCH)
        hits = self._diary.search(words, _FOUND)
        days = formatting.plural(len(hits), "day") if hits else "no day"
        lines = [f'{days} of your diary for "{formatting.one_line(words)}"']
        for number, hit in enumerate(hits, 1):
            day = date.fromordinal(hit.document.origin)
            snippet = formatting.one_line(hit.snippet, 500).replace("->", "→")
            lines.append(f"{number}. {day}: {snippet} -> SHOW_DIARY_ENTRIES_FROM_DAY {day}")
        lines += [f"not searched: {damage}" for damage in self._diary.damage()[:_DAMAGED]]
        if left:
            more = formatting.plural(left, "more day is", "more days are")
            lines.append(f"{more} not searched yet: search again")
        return Outcome("\n".join(lines))

    def read(self, call: Call) -> Outcome:
        """As much of a day as a result may have, and where the rest is."""
        day = self._date(call.args)
        text = self._shown(day, "your diary")
        if len(text) <= self._limit:
            return Outcome(text)
        kept = text[: self._limit]
        whole_entries = max(kept.count("\n\n") - 1, 0)
        line = 5 + 6 * whole_entries  # as the file of a day is laid out
        return Outcome(
            f"{kept}\n… cut at {self._limit} characters;"
            f" go on with READ_FILE diary/{day}.json {line}-"
        )

    def listed(self, argument: str) -> str:
        """For people: a page of the days, a day, or the days on which some words stand."""
        words, number = pages.wanted(argument)
        if not words:
            days = self._diary.days()[::-1]

            def lines(offset: int, length: int) -> list[str]:
                return [f"{day}  {self._beginning(day)}" for day in days[offset : offset + length]]

            return (
                pages.page("/diary", len(days), number, lines) if days else "the diary is empty yet"
            )
        if _DAY_NAMED.fullmatch(argument):
            return self._shown(self._date(argument), "its diary")
        return self._found(argument)

    def _found(self, words: str) -> str:
        """The days that fit words best, for people."""
        left = self._diary.refresh(FOR_A_SEARCH)
        hits = self._diary.search(words, pages.PAGE)
        lines = [
            f"{date.fromordinal(hit.document.origin)}  {formatting.one_line(hit.snippet, 300)}"
            for hit in hits
        ]
        if not lines:
            lines = [f'the diary has no day for "{formatting.one_line(words)}"']
        if left:
            more = formatting.plural(left, "more day is", "more days are")
            lines.append(f"{more} not searched yet: search again")
        return "\n".join(lines)

    def _shown(self, wanted: date, title: str) -> str:
        """The entries of one day of the diary, which is called so to whoever reads it. If there are
        none, raises a ``ToolError`` that names the nearest days.
        """
        today = clock.day(self._identity.now())
        if entries := self._diary.entries(wanted):
            return "\n\n".join([f"{title} of {wanted}", *map(str, entries)])
        if wanted > today:
            raise ToolError(f"{wanted} is still to come: today is {today}")
        days = self._diary.days()
        before = [known for known in days if known < wanted]
        after = [known for known in days if known > wanted]
        near = ", ".join(map(str, [*before[-1:], *after[:1]]))
        rest = f"near it: {near}" if near else "it is empty yet"
        raise ToolError(f"nothing stands in {title} of {wanted}; {rest}")

    def feel(self, call: Call) -> Outcome:
        """Another mood."""
        state = self._identity.state
        mood = self._identity.redact(_words(call, "mood", "how are you? write SET_MOOD <mood>"))
        if mood == state.mood:
            raise ToolError(f"your mood is {mood} already")
        state.mood = mood
        return Outcome(f"your mood is {mood} now")

    def go(self, call: Call) -> Outcome:
        """To another place."""
        return self._go(_words(call, "place", "where to? write GO_TO_PLACE <place>"))

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
        """The day that somebody has named."""
        today = clock.day(self._identity.now())
        before = {"today": 0, "yesterday": 1}.get(text.strip().lower())
        return real_day(text, today) if before is None else today - timedelta(days=before)

    def _read(self, call: Call) -> tuple[date | None, str, dict[str, str]]:
        """The day that a WRITE_DIARY names, if it names one, its text and its fields."""
        day, text, fields = written(self._identity.redact(call.given))
        fields = {name: formatting.one_line(value, WORDS) for name, value in fields.items()}
        return (self._date(day) if day else None), text, fields

    def _mark(self, call: Call) -> str:
        """The day that is written on, and how many entries it has."""
        try:
            day = self._read(call)[0] or clock.day(self._identity.now())
            return f"{day} {len(self._diary.entries(day))}"
        except DoryError:  # the tool itself will say what is wrong
            return ""

    def _written(self, call: Call, mark: str) -> bool:
        """Whether the text stands behind what stood there, or on the next day, if midnight came
        between the mark and the tool.
        """
        if not mark:
            return False
        first, _, count = mark.partition(" ")
        marked = date.fromisoformat(first)
        try:
            named, text, _ = self._read(call)
            later = self._diary.entries(marked)[int(count) :]
            if not named:
                later += self._diary.entries(marked + timedelta(days=1))
        except DoryError:  # then nobody can tell
            return False
        return any(entry.text == text for entry in later)

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
            "/diary [YYYY-MM-DD]  what the agent wrote on a day; with words, the days on which they"
            " stand; without any, the newest days, in pages",
            listed,
            private=True,
        ),
    )


def _words(call: Call, field: str, question: str) -> str:
    """A few words on one line, also behind the name of their ``field``. Raises ``ToolError`` with
    the ``question`` if there are none.
    """
    words = formatting.one_line(call.given, 10 * WORDS)
    if words.lower().startswith(f"{field}:"):
        words = words[len(field) + 1 :].strip()
    if not words:
        raise ToolError(question)
    if len(words) > WORDS:
        raise ToolError(too_long(field, words))
    return words
