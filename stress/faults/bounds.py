"""How many model calls a fault may cost at most. The bounds follow from the promised numbers of
retries, pauses and limits.

``retries`` is how often a call is repeated, ``workers`` how many summaries are requested at once.
"""

from dory.constants import FAILURE_LIMIT
from dory.turn.model_call import TurnRetry
from dory.turn.segments import CHUNK_LIMIT

HOUR = 3600.0
FOLDS = 8
"""Calls that a prompt which is too long may cost. Each time half of what can be folded is folded,
and at least a tenth of the prompt.
"""


def tries(seconds: float, lines: float) -> int:
    """How often a turn is tried within so many seconds if each try fails at once and ``lines`` are
    said, each at the worst moment.
    """
    retry = TurnRetry()
    at = 0.0
    count = 0
    while at <= seconds:
        count += 1
        retry.failed(at)
        retry.ready(at, news=lines > count)
        at += retry.pause
    return count


def away(seconds: float, lines: float, retries: int) -> int:
    """Calls for turns while the model is away. Of all tries only the first one is repeated."""
    return tries(seconds, lines) + retries


def naming(retries: int) -> int:
    """Calls of one compaction that fails at its first request. An answer that cannot be used is
    requested once more.
    """
    return 2 * (1 + retries)


def summarising(retries: int, workers: int) -> int:
    """Calls of one compaction that gets no summary. It gives up after the first and one batch."""
    return naming(retries) * (1 + 1 + workers)


def until_paused(calls: int) -> int:
    """Calls of failing compactions until they pause, if each makes ``calls``."""
    return FAILURE_LIMIT * calls


ALL_CHUNKS = 1 + CHUNK_LIMIT
"""Calls of a compaction in which every answer can be read."""


def at_hard_limit(seconds: float, lines: float, retries: int) -> int:
    """Calls while the model is away for all purposes. Each try may have to compact first, and one
    compaction is due anyway.
    """
    return (tries(seconds, lines) + 1) * (1 + naming(retries)) + retries
