"""The rooms that are told what nobody asked for there, such as that the model fails.

That is every room of an agent that is in few. Of many rooms it is those in which people have
spoken, the newest first: to write a line into thousands of files takes minutes.
"""

from dory.identity.identity import Identity

MOST = 20
"""Rooms that are told at most."""


def rooms(identity: Identity) -> list[str]:
    """Return the rooms, in order of name."""
    subscriptions = identity.subscriptions()
    if len(subscriptions) <= MOST:
        return subscriptions

    def place(room: str) -> tuple[bool, float]:
        known = identity.state.rooms.get(room)
        return bool(known and known.people), identity.rooms.changed(room)

    return sorted(sorted(subscriptions, key=place, reverse=True)[:MOST])
