"""What an agent may do while no person speaks to it: the setting ``unattended``. Pure.

unattended: {turns: 100, calls: 400, tokens: 5000000}
"""

from dataclasses import dataclass, fields

from dory.config import loader


@dataclass(frozen=True)
class UnattendedSettings:
    """How much an agent may do since a person last spoke to it, in whichever room: ``turns``, and
    ``calls`` for work beside them (compaction, summaries, Dreams, self-care, vectors). Each of the
    two may take so many ``tokens``, prompts and answers together.

    The defaults are far more than one request takes, and cost some dollars at most with a model of
    a usual price: two agents that talk to each other come to an end.
    """

    turns: int = 100
    calls: int = 400
    tokens: int = 5_000_000

    def __str__(self) -> str:
        """As it may stand in dory.yaml, on one line."""
        return loader.flow({field.name: str(getattr(self, field.name)) for field in fields(self)})


ENDLESS = UnattendedSettings(loader.MOST, loader.MOST, loader.MOST)
"""For a life in which no person ever speaks, as benchmarks make it."""


def read(given: object) -> UnattendedSettings:
    """The settings from a mapping of texts. Raises ``ValueError`` with one line that says what is
    wrong.
    """
    try:
        unattended = UnattendedSettings(**loader.filled(given, fields(UnattendedSettings)))
        for field in fields(unattended):
            loader.bounded(field.name, getattr(unattended, field.name), least=1)
    except ValueError as error:
        raise ValueError(f"unattended: {error}") from None
    return unattended
