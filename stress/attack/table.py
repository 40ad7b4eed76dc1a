"""All attacks, by subject."""

from collections.abc import Mapping, Sequence

from stress.attack import doors, loop, money, people, processes, rooms, state, traps, workspace
from stress.attack.attack import Attack

TABLE: Mapping[str, Sequence[Attack]] = {
    "loop": loop.ATTACKS,
    "money": money.ATTACKS,
    "workspace": workspace.ATTACKS,
    "processes": processes.ATTACKS,
    "state": state.ATTACKS,
    "traps": traps.ATTACKS,
    "rooms": rooms.ATTACKS,
    "doors": doors.ATTACKS,
    "people": people.ATTACKS,
}


def named(text: str) -> list[tuple[str, Attack]]:
    """The attacks with ``text`` in their name, or of the subject of that name, with their
    subject.
    """
    return [
        (subject, attack)
        for subject, attacks in TABLE.items()
        for attack in attacks
        if text in attack.name or text == subject
    ]
