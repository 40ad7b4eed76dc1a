"""To whom an agent says something in a room, noted as it says it.

A room's file shows only the order of the lines. When somebody speaks up while the model thinks, the
answer stands behind their line and still belongs to those whom the turn has answered. So this is
kept in the room's state, by the byte in its file behind which the message stands, until the records
of conversations have it (``extensions/people``).
"""

from dory.identity import neighbours
from dory.identity.identity import Identity
from dory.text import addressing

_KEPT = 64
"""Newest messages in a room of which this is known."""


def note(identity: Identity, room: str, mark: int, text: str) -> None:
    """The agent has said ``text`` in a room, behind byte ``mark``: keep to whom, and that nobody
    waits there any more.
    """
    state = identity.state
    position = state.rooms.get(room)
    if position is None:
        return
    others = [name for name in neighbours.names(identity.home, room) if name != identity.name]
    called = addressing.addressed(text, [*position.waiting, *others])
    answered = [*position.waiting, *position.callers]
    if not answered and position.said_at >= state.woke_at:
        answered = next(reversed(position.answers.values()), [])  # it goes on speaking to them
    position.answers[str(mark)] = called or answered
    while len(position.answers) > _KEPT:
        del position.answers[next(iter(position.answers))]
    position.said_at = state.next_id
    position.waiting = []
    position.callers = []
