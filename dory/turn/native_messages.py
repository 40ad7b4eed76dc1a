"""Native calls as they go back in a ledger: the model's own message, then one message for each of
its calls, with the entry that came of it.

The record of a response and of its results are the entries of the context; here is only how one
process says them to the model that made them, within one epoch. A new process, and a new epoch,
say all that once more as the record has it. So nothing of this is kept on the disk.
"""

from collections.abc import Sequence
from dataclasses import replace

from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.text import references
from dory.types import Message, Native

NO_RESULT = "done, without a result\n"
NOT_RUN = "not run, see below\n"
"""What a call is answered that has made no entry. Each has to be answered with something."""


class NativeMessages:
    """The native calls of one identity's epoch."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._epoch = 0
        self._made: dict[int, tuple[Native, tuple[int, ...]]] = {}
        """By the entry of the response."""

    def add(self, native: Native, outcomes: Sequence[int]) -> None:
        """The newest response had these native calls. The first of the ``outcomes`` are theirs: the
        entry that each has made, 0 for none. There are fewer if some were not run.
        """
        me = self._identity
        if self._epoch != me.state.epoch:
            self._epoch = me.state.epoch
            self._made.clear()
        newest = next(e.first for e in reversed(me.context.entries) if e.kind == "response")
        known = {call.id for made, _ in self._made.values() for call in made.calls}
        calls = list(native.calls)
        for number, call in enumerate(calls):
            if call.id in known:  # some count from 1 in each answer
                calls[number] = replace(call, id=f"{call.id}_{newest}_{number}")
            known.add(call.id)
        text = me.redact(references.escape(native.text))
        self._made[newest] = replace(native, text=text, calls=tuple(calls)), tuple(outcomes)

    def of(self, response: Entry, following: list[Entry]) -> list[Message]:
        """The messages of a ``response`` and of what came of its calls, which is taken out of the
        ``following`` entries; empty if its calls were no native ones.
        """
        if self._epoch != self._identity.state.epoch or response.first not in self._made:
            return []
        native, outcomes = self._made[response.first]
        results = {entry.first: entry for entry in following if entry.first in outcomes}
        following[:] = [entry for entry in following if entry.first not in results]
        messages = [Message("assistant", response.body, native)]
        for number, call in enumerate(native.calls):
            text = NO_RESULT if number < len(outcomes) else NOT_RUN
            if number < len(outcomes) and outcomes[number] in results:
                text = results[outcomes[number]].text
            messages.append(Message("tool", text, call=call.id))
        return messages
