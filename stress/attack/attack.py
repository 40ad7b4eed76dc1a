"""What an attack is: a name, what must hold, and a function that attacks and yields one line for
everything that did not hold.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dory.errors import DoryError
from stress.attack.ground import Ground

Deed = Callable[[Ground], Iterator[str]]


@dataclass(frozen=True)
class Attack:
    """One attack. ``spoils``: it damages files on purpose, so ``clean.py --check`` may find
    something afterwards.
    """

    name: str
    holds: str
    deed: Deed
    spoils: bool = False


@dataclass
class Record:
    """The outcome of one attack. ``skipped`` says why it could not be made; empty if it was."""

    name: str
    subject: str
    holds: str
    violations: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0


class Skipped(DoryError):
    """An attack cannot be made on this machine."""


def made(attack: Attack, subject: str, ground: Ground) -> Record:
    """Make an attack on its ground, and look at what it left."""
    record = Record(attack.name, subject, attack.holds)
    began = time.monotonic()
    with ground:
        try:
            record.violations += attack.deed(ground)
        except Skipped as error:
            record.skipped = str(error)
        except (DoryError, OSError) as error:
            record.violations.append(f"it could not go on: {error}")
    record.violations += ground.tracebacks()
    if not attack.spoils and not record.skipped:
        record.violations += ground.problems()
    record.seconds = time.monotonic() - began
    return record
