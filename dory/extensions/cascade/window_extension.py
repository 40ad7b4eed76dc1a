"""The events of the immediate window that have left the context, word for word.

The newest lines of LIFE stand in every prompt, and most lead to an entry of the context. Where the
context holds no such entry any more, the full text of the event is laid out here, once per epoch
and so from the provider's cache; the tail then names the event by its number. So the whole window
is before the model in full, and what happens within the epoch is in the context.

The section is bounded: whole texts have so much room, the newest first. Of an event that has no
room its line of LIFE stands here, as far as that goes, with the reference to all of it. In a lean
prompt it does not: there the section only says where to read it.
"""

from dory.extensions.cascade.event_texts import EventTexts
from dory.extensions.cascade.life_reader import BEGINNING, LifeReader
from dory.identity.identity import Identity
from dory.storage.rooms import laid_out
from dory.text import prompt_files, references
from dory.turn import life_tail
from dory.turn.extension import Extension


class WindowExtension(Extension):
    """The window of one identity. Whole texts may have ``room`` tokens; with ``lean``, all of the
    section.
    """

    name = "window"
    freshness = "opening"

    def __init__(self, identity: Identity, texts: EventTexts, room: float, lean: bool) -> None:
        self._identity = identity
        self._texts = texts
        self._reader = LifeReader(identity.life.path)
        self._room = room
        self._lean = lean
        self._rendered: tuple[int, str] | None = None

    def heading(self) -> str:
        """With what the section is about: the tail names the events by their numbers."""
        return (
            f"{self.name}: newer events of your life that have left the context, each behind its"
            " number"
        )

    def section(self) -> str:
        """The events in their order, each with its number, and how to read those that are cut. The
        first that asks in an epoch, here or in another section, has it rendered.
        """
        epoch = self._identity.state.epoch
        if self._rendered is None or self._rendered[0] != epoch:
            self._rendered = (epoch, self._made())
        return self._rendered[1]

    def _made(self) -> str:
        me = self._identity
        me.life.laid_out = {}
        gone = self._gone()
        left = self._room * me.state.characters_per_token
        shown: dict[int, str] = {}
        cut: list[int] = []
        for number, line in reversed(gone):
            event = self._texts.of(line)
            text = references.escape(laid_out(f"{number} {event.head} {event.text}".rstrip()))
            if len(text) < left:
                left -= len(text) + 1
                shown[number] = text
            else:
                cut.append(number)
                if not self._lean:
                    shown[number] = f"{number} {line}"
        me.life.laid_out = {line: number for number, line in gone if number in shown}
        told = [shown[number] for number in sorted(shown)]
        if cut:
            note = prompt_files.prompt("lean_window" if self._lean else "window")
            told.insert(0, note.format(first=cut[-1], last=cut[0]))
        return "\n".join(told)

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
