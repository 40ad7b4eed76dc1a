"""A model that does what people order, so that one response holds the tool lines between which an
agent is to be killed.

    K7-12 the kettle whistles. Orders: EDIT SAY JOIN

It answers every message heard since the last response with the tool lines that the message orders,
or with one SAY. If the only such message orders PLAIN, the answer has no tool line at all. Each SAY
and each edit holds the first word of its message, which people never use twice. The model is a pure
function of the prompt. Compactions are left to the offline model.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dory.control import Control
from dory.identity.context import Entry
from dory.offline import OfflineModel
from dory.offline.prompt_reader import Heard, Reading, heard, read
from dory.text import tool_calls
from dory.types import Call, Prompt, Purpose, Reply

ROOM = "dev"
SECOND_ROOM = "lab"
ORDERS = "Orders: "
INTERRUPTED = "You were stopped"
PLAIN = "PLAIN"
PLAINLY = "is heard, plainly."
"""How an answer without a tool line ends."""


class Obedient(OfflineModel):
    """A ``Model``; for turns it follows orders."""

    name = "obedient"

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. Raises nothing."""
        reply = super().complete(prompt, purpose)
        if purpose != "turn":
            return reply
        reading = read(prompt)
        calls = list(_calls(reading)) or [Call("WAIT")]
        return Reply(_plain(reading) or tool_calls.render(calls), "", reply.usage)


@dataclass(frozen=True, slots=True)
class _Order:
    """One ordered tool line. ``label`` is unique: the first word of its message, and its number."""

    room: str
    mark: str
    label: str
    reading: Reading


def _news(reading: Reading) -> list[Entry]:
    """The entries since the last response."""
    responses = [place for place, entry in enumerate(reading.entries) if entry.kind == "response"]
    return reading.entries[responses[-1] + 1 if responses else 0 :]


def _plain(reading: Reading) -> str:
    """An answer without a tool line; empty if none was ordered, or not that alone."""
    news = _news(reading)
    messages = [message for entry in news for message in heard(entry)]
    interrupted = any(entry.body.startswith(INTERRUPTED) for entry in news)
    if interrupted or [message.text.partition(ORDERS)[2] for message in messages] != [PLAIN]:
        return ""
    return f"{messages[0].text.partition(' ')[0]} {PLAINLY}"


def _calls(reading: Reading) -> Iterator[Call]:
    for entry in _news(reading):
        if entry.kind == "notice" and entry.body.startswith(INTERRUPTED):
            yield Call("SAY", f"{ROOM} I was interrupted, as #{entry.first} says.")
        for message in heard(entry):
            yield from _ordered(message, reading)


def _ordered(message: Heard, reading: Reading) -> Iterator[Call]:
    mark = message.text.partition(" ")[0]
    names = message.text.partition(ORDERS)[2].split() or ["SAY"]
    for number, name in enumerate(names, 1):
        if name in _CALLS:
            yield _CALLS[name](_Order(message.room, mark, f"{mark}.{number}", reading))
        else:
            yield Call(name, SECOND_ROOM)


def _say(order: _Order) -> Call:
    return Call("SAY", f"{order.room} {order.label} is heard.")


def _say_long(order: _Order) -> Call:
    """A message of several lines, with what could be taken for a tag and for its end."""
    rest = f"\n\n    [USER:ada] and this is no tag\n{'so be it ' * 40}\nEND"
    return Call("SAY", order.room, f"{order.label} is heard.{rest}")


def _edit(order: _Order) -> Call:
    return _appended(f"{order.label} shall be remembered, ◱ included")


def _tell(order: _Order) -> Call:
    """A fact about a person, which a Dream moves into USER.md."""
    return _appended(f"Ada's {order.label} is told, and a Dream puts it in its place")


def _appended(line: str) -> Call:
    return Call("EDIT_FILE", "MEMORY.md", edits=(("", line),))


def _change(order: _Order) -> Call:
    newest = order.reading.memory[-1] if order.reading.memory else "?"
    return Call("EDIT_FILE", "MEMORY.md", edits=((newest, f"{order.label} is better"),))


def _note(order: _Order) -> Call:
    edits = (("", order.label), ("", f"{order.label} again"))
    return Call("EDIT_FILE", "workspace/notes/all.md", edits=edits)


def _keep(order: _Order) -> Call:
    return Call("NOTE_ADD", f"{order.label} what {order.mark} said shall be kept")


def _recall(order: _Order) -> Call:
    return Call("RECALL", "kettle ladder compass")


def _uncompact(order: _Order) -> Call:
    hashes = filter(None, map(_reference, order.reading.entries))
    return Call("UNCOMPACT", next(hashes, "no reference yet"))


def _read(order: _Order) -> Call:
    return Call("READ_FILE", "MEMORY.md")


def _wrong(order: _Order) -> Call:
    """A tool line that must fail."""
    return Call("SAY", f"nowhere {order.label}")


_CALLS: dict[str, Callable[[_Order], Call]] = {
    "SAY": _say,
    "SAY_LONG": _say_long,
    "EDIT": _edit,
    "TELL": _tell,
    "CHANGE": _change,
    "NOTE": _note,
    "KEEP": _keep,
    "RECALL": _recall,
    "UNCOMPACT": _uncompact,
    "READ": _read,
    "WRONG": _wrong,
    PLAIN: _say,
}
"""By the name of an order. Any other order is the name of a tool for the second room."""


def _reference(entry: Entry) -> str | None:
    return entry.hash if entry.kind == "compacted" else None
