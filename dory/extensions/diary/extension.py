"""The diary, and how the agent is and where: the tools with which it writes, finds and reads, and
what people may see of that.

Mood and place are part of the agent's state, so they are committed with the outcome of the tool
that sets them. A day's file is written before; whether it was, after a kill, is told by what stands
in it. What has changed in the files, by the agent or by people, is indexed between turns, a bounded
part at a time: what people edit is found within a minute or so, what the agent writes at once. Days
are those of UTC.
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
from dory.types import Call

WORDS = 80
"""Characters of a mood, and of a place."""
AT_ONCE, FOR_A_SEARCH = 32, 500
"""Files that are taken into the index between two turns, and before a search."""
LOOK = timedelta(minutes=1)
"""After which the files are looked at again, for people edit them, too."""
_FOUND, _LISTED, _DAMAGED = 10, 10, 3
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class DiaryExtension(Extension):
    """The diary, mood and place of one identity."""

    name = "diary"
    freshness = "epoch"

    def __init__(self, identity: Identity, diary: Diary, limit: int) -> None:
        """``limit``: characters of one result."""
        self._identity = identity
        self._diary = diary
        self._limit = limit
        self._looked: datetime | None = None
        self._behind = True

    def section(self) -> str:
        """One line, as things stood when the epoch began: of changes the results of the
        tools tell.
        """
        state = self._identity.state
        mood = f"; your mood: {formatting.one_line(state.mood, WORDS)}" if state.mood else ""
        return (
            f"You are at {formatting.one_line(state.place, WORDS)}{mood}. WRITE_DIARY keeps what a"
            " day was like, with both."
        )

    def write(self, call: Call) -> Outcome:
        """An entry of today."""
        now, state = self._identity.now(), self._identity.state
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
        shown = formatting.one_line(words)
        lines = [
            (
                f'{len(hits)} day{"s" * (len(hits) > 1)} of your diary for "{shown}"'
                if hits
                else f'no day of your diary for "{shown}"'
            )
        ]
        for number, hit in enumerate(hits, 1):
            day = date.fromordinal(hit.document.origin)
            lines.append(
                f"{number}. {day}: {formatting.one_line(hit.snippet, 500).replace('->', '→')} ->"
                f" SHOW_DIARY_ENTRIES_FROM_DAY {day}"
            )
        lines += [f"not searched: {damage}" for damage in self._diary.damage()[:_DAMAGED]]
        lines += [f"{left} more days are not searched yet: search again" for _ in range(bool(left))]
        return Outcome("\n".join(lines))

    def show(self, day: str) -> str:
        """What stands there of one day. A ``ToolError`` that names the nearest ones if that is
        nothing.
        """
        wanted, today = self._date(day), self._identity.now().date()
        if entries := self._diary.entries(wanted):
            return "\n\n".join([f"your diary of {wanted}", *map(str, entries)])
        if wanted > today:
            raise ToolError(f"{wanted} is still to come: today is {today}")
        days = self._diary.days()
        near = [
            *[one for one in days if one < wanted][-1:],
            *[one for one in days if one > wanted][:1],
        ]
        raise ToolError(
            f"nothing stands in your diary of {wanted}; "
            + (f"near it: {', '.join(map(str, near))}" if near else "it is empty yet")
        )

    def read(self, call: Call) -> Outcome:
        """As much of a day as a result may have, and where the rest is."""
        text = self.show(call.args)
        if len(text) <= self._limit:
            return Outcome(text)
        kept = text[: self._limit]
        whole_entries = max(kept.count("\n\n") - 1, 0)
        line = 5 + 6 * whole_entries  # as the file of a day is laid out
        path = f"diary/{call.args}.json"
        return Outcome(
            f"{kept}\n… cut at {self._limit} characters; go on with READ_FILE {path} {line}-"
        )

    def go(self, call: Call) -> Outcome:
        """To another place."""
        return self._go(_words(call, "where to? write GO_TO_PLACE <place>"))

    def go_home(self, _: Call) -> Outcome:
        """Back home."""
        return self._go(HOME)

    def listed(self, day: str) -> str:
        """For people: a day, or a line for each of the newest."""
        if day:
            return self.show(day)
        days = self._diary.days()[-_LISTED:]
        return (
            "\n".join(f"{one}  {self._beginning(one)}" for one in reversed(days))
            or "the diary is empty yet"
        )

    def feel(self, call: Call) -> Outcome:
        """Another mood."""
        state, mood = (
            self._identity.state,
            self._identity.redact(_words(call, "how are you? write SET_MOOD <mood>")),
        )
        if mood == state.mood:
            raise ToolError(f"your mood is {mood} already")
        state.mood = mood
        return Outcome(f"your mood is {mood} now")

    def background(self) -> Work | None:
        """Take what has changed into the index, some of it at once."""
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
        state, place = self._identity.state, self._identity.redact(place)
        place = HOME if place.lower() == HOME else place
        if place == state.place:
            raise ToolError(f"you are at {place} already")
        state.place = place
        return Outcome(f"you are at {place} now")

    def _beginning(self, day: date) -> str:
        try:
            return " · ".join(
                formatting.one_line(entry.text, 60) for entry in self._diary.entries(day)[:2]
            )
        except DoryError as error:
            return str(error)

    def _date(self, text: str) -> date:
        today = self._identity.now().date()
        try:
            wanted = date.fromisoformat(text) if _DATE.fullmatch(text) else None
        except ValueError:
            wanted = None
        if wanted is None:
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
        """Whether the text stands behind what stood there, or on the next day, should midnight have
        come between mark and deed.
        """
        if not mark:
            return False
        first, _, count = mark.partition(" ")
        day, text = date.fromisoformat(first), self._identity.redact(call.given)
        try:
            later = [
                *self._diary.entries(day)[int(count) :],
                *self._diary.entries(day + timedelta(days=1)),
            ]
        except DoryError:  # then nobody can tell
            return False
        return any(entry.text == text for entry in later)

    TOOLS = (
        Tool("WRITE_DIARY <text>", write, _mark, _written),
        Tool("SEARCH_DIARY_FOR_KEYWORDS <words>", search, looks_up=True),
        Tool("SHOW_DIARY_ENTRIES_FROM_DAY <YYYY-MM-DD>", read, looks_up=True),
        Tool("SET_MOOD <mood>", feel),
        Tool("GO_TO_PLACE <place>", go),
        Tool("GO_HOME", go_home),
    )
    COMMANDS = (
        Command(
            "/diary [YYYY-MM-DD]  what the agent wrote on a day; without one, the newest days",
            listed,
        ),
    )


def _words(call: Call, question: str) -> str:
    """A few words on one line."""
    words = formatting.one_line(call.given, WORDS + 1)
    if not words:
        raise ToolError(question)
    if len(words) > WORDS:
        raise ToolError(
            f"that is too long: at most {WORDS} characters, the rest belongs in your diary"
        )
    return words
