"""The ledger: the messages of an epoch, to which every prompt only appends. Pure.

    user        the context, the live sections, MEMORY and the newest LIFE lines, as they stood when the epoch began
    assistant   a response, as the model gave it
    user        [#13 response 2026-11-21 07:38]     its header
                [#14 result SAY dev]                what came of it, and what was heard since, entry by entry
                …
                [#life]                             the LIFE lines of all that
                …
                [#memory 31 of 4000 characters]     MEMORY or a live section, when it has changed
                …

Nothing that was sent is ever sent in another form, so each prompt begins with the whole of the one before it. User and assistant take turns, as
the chat templates of some models insist: what is told while no response has come in between goes to the end of the last message.
"""

from collections.abc import Iterable
from dataclasses import replace

from dory.identity.context import Entry
from dory.types import Message


def appended(messages: Iterable[Message], entries: Iterable[Entry], news: str) -> tuple[Message, ...]:
    """``messages``, which end with one of the user, and behind them what was added to the context, and then the ``news``."""
    grown = list(messages)
    for entry in entries:
        if entry.kind == "response" and entry.body.strip():  # some endpoints refuse an empty message
            grown.append(Message("assistant", entry.body))
            _tell(grown, entry.header)
        else:
            _tell(grown, entry.text)
    _tell(grown, news)
    return tuple(grown)


def _tell(messages: list[Message], text: str) -> None:
    last = messages[-1]
    if last.role == "user":
        messages[-1] = replace(last, content=last.content + text)
    else:
        messages.append(Message("user", text))
