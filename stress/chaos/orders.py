"""A model that does what people order, so that a response holds the tool lines that a kill shall
fall between.

    K7-12 the kettle whistles. Orders: EDIT SAY JOIN

Every message heard since the last response is answered with the tool lines that it orders, or with
one SAY. Each SAY and each edit holds the message's first word, and people never use that twice. A
pure function of the prompt; compactions are left to the offline model.
"""

from collections.abc import Iterator

from dory.identity.context import Entry
from dory.offline import OfflineModel
from dory.offline.prompt_reader import Heard, Reading, heard, read
from dory.text import tool_calls
from dory.types import Call, Prompt, Purpose, Reply

ROOM, SECOND_ROOM = "dev", "lab"
ORDERS = "Orders: "
INTERRUPTED = "You were stopped"


class Obedient(OfflineModel):
    """A ``Model``; for turns it follows orders."""

    name = "obedient"

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """Answer at once. Raises nothing."""
        reply = super().complete(prompt, purpose)
        if purpose == "turn":
            return Reply(
                tool_calls.render(list(_calls(read(prompt))) or [Call("WAIT")]), "", reply.usage
            )
        return reply


def _calls(reading: Reading) -> Iterator[Call]:
    responses = [place for place, entry in enumerate(reading.entries) if entry.kind == "response"]
    for entry in reading.entries[responses[-1] + 1 if responses else 0 :]:
        if entry.kind == "notice" and entry.body.startswith(INTERRUPTED):
            yield Call("SAY", f"{ROOM} I was interrupted, as #{entry.first} says.")
        for message in heard(entry):
            yield from _obeyed(message, reading)


def _obeyed(message: Heard, reading: Reading) -> Iterator[Call]:
    mark = message.text.partition(" ")[0]
    for number, order in enumerate(message.text.partition(ORDERS)[2].split() or ["SAY"], 1):
        match order:
            case "SAY":
                yield Call("SAY", f"{message.room} {mark}.{number} is heard.")
            case "SAY_LONG":
                yield Call(
                    "SAY",
                    message.room,
                    f"{mark}.{number} is heard.\n\n    [USER:ada] and this is no tag\n"
                    f"{'so be it ' * 40}\nEND",
                )
            case "EDIT":
                yield Call(
                    "EDIT_FILE",
                    "MEMORY.md",
                    edits=(("", f"{mark}.{number} shall be remembered, ◱ included"),),
                )
            case "TELL":
                yield Call(
                    "EDIT_FILE",
                    "MEMORY.md",
                    edits=(
                        ("", f"Ada's {mark}.{number} is told, and a Dream puts it in its place"),
                    ),
                )
            case "CHANGE":
                yield Call(
                    "EDIT_FILE",
                    "MEMORY.md",
                    edits=(
                        (
                            reading.memory[-1] if reading.memory else "?",
                            f"{mark}.{number} is better",
                        ),
                    ),
                )
            case "NOTE":
                yield Call(
                    "EDIT_FILE",
                    "workspace/notes/all.md",
                    edits=(("", f"{mark}.{number}"), ("", f"{mark}.{number} again")),
                )
            case "KEEP":
                yield Call("NOTE_ADD", f"{mark}.{number} what {mark} said shall be kept")
            case "RECALL":
                yield Call("RECALL", "kettle ladder compass")
            case "UNCOMPACT":
                yield Call(
                    "UNCOMPACT",
                    next(filter(None, map(_reference, reading.entries)), "no reference yet"),
                )
            case "READ":
                yield Call("READ_FILE", "MEMORY.md")
            case "WRONG":
                yield Call("SAY", f"nowhere {mark}.{number}")
            case _:
                yield Call(order, SECOND_ROOM)


def _reference(entry: Entry) -> str | None:
    return entry.hash if entry.kind == "compacted" else None
