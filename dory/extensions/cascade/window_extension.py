"""The events of the immediate window that have left the context, word for word.

The newest lines of LIFE stand in every prompt, and most lead to an entry of the context. Where the
context holds no such entry any more, the full text of the event is laid out here, once per epoch
and so from the provider's cache; the tail then names the event by its number. So the whole window
is before the model in full, and what happens within the epoch is in the context.

The section is bounded. The newest events come first, each whole; what does not fit is named with
its range, for READ_FILE.
"""

from dory.extensions.cascade.event_texts import EventTexts
from dory.extensions.cascade.life_reader import BEGINNING, LifeReader
from dory.identity.identity import Identity
from dory.storage.rooms import laid_out
from dory.text import references
from dory.turn import life_tail
from dory.turn.extension import Extension


class WindowExtension(Extension):
    """The window of one identity. The section may have ``room`` tokens."""

    name = "window"
    freshness = "opening"

    def __init__(self, identity: Identity, texts: EventTexts, room: float) -> None:
        self._identity = identity
        self._texts = texts
        self._reader = LifeReader(identity.life.path)
        self._room = room

    def heading(self) -> str:
        """With what the section is about."""
        return f"{self.name}: newer events of your life that have left the context"

    def section(self) -> str:
        """The events in their order, each with its number, and where to read the others."""
        me = self._identity
        me.life.laid_out = {}
        gone = self._gone()
        left = self._room * me.state.characters_per_token
        shown: list[str] = []
        numbers: dict[str, int] = {}
        while gone:
            number, line = gone[-1]
            event = self._texts.of(line)
            text = references.escape(laid_out(f"{number} {event.head} {event.text}".rstrip()))
            left -= len(text) + 1
            if left < 0:
                break
            gone.pop()
            shown.append(text)
            numbers[line] = number
        if gone:
            shown.append(_unshown(gone[0][0], gone[-1][0]))
        me.life.laid_out = numbers
        return "\n".join(reversed(shown))

    def _gone(self) -> list[tuple[int, str]]:
        """The events of the window that the context does not hold, oldest first, by number."""
        me = self._identity
        end = me.state.life_bytes + len(me.state.life_lines.encode())
        newest = self._reader.count(BEGINNING.end, end)
        events = [(newest - behind, line) for behind, line in me.life.events()]
        shown = life_tail.cut([line for _, line in events], me.context.entries)
        return [
            event for event, line in zip(events, shown, strict=True) if not life_tail.is_cut(line)
        ]


def _unshown(first: int, last: int) -> str:
    which = f"Event {first} has" if first == last else f"Events {first}–{last} have"
    return f"{which} no room here: READ_FILE LIFE.md {first}-{last}"
