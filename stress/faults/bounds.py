"""How many model calls a fault may cost at most, derived from what the house promises: its
repetitions, its pauses, its limits.

``retries`` is how often a call is repeated, ``workers`` how many summaries are asked for at once.
"""

from dory.constants import FAILURE_LIMIT
from dory.turn.model_call import Backoff
from dory.turn.segments import CHUNK_LIMIT

HOUR = 3600.0
FOLDS = 8
"""That a prompt which is too long may cost: each takes half of what can be folded, and a tenth of
the prompt at least.
"""


def tries(seconds: float, lines: float) -> int:
    """How often a turn is tried within so many seconds if each try fails at once and ``lines`` are
    said, each at the worst moment.
    """
    patience, at, count = Backoff(), 0.0, 0
    while at <= seconds:
        count += 1
        patience.failed(at)
        patience.ready(at, news=lines > count)
        at += patience.pause
    return count


def away(seconds: float, lines: float, retries: int) -> int:
    """Calls for turns while the model is away. Of all tries only the first one is repeated."""
    return tries(seconds, lines) + retries


def naming(retries: int) -> int:
    """Calls of one compaction that does not get beyond its first request: an answer that cannot be
    used is asked for once more.
    """
    return 2 * (1 + retries)


def summarising(retries: int, workers: int) -> int:
    """Calls of one compaction that gets no summary: after the first one and a batch it gives up."""
    return naming(retries) * (1 + 1 + workers)


def until_paused(calls: int) -> int:
    """Calls for compactions of which each makes so many, until they pause."""
    return FAILURE_LIMIT * calls


ALL_CHUNKS = 1 + CHUNK_LIMIT
"""Calls of a compaction in which every answer can be read."""


def at_hard_limit(seconds: float, lines: float, retries: int) -> int:
    """Calls while the model is away for everything: each try may have to make room first, and one
    compaction is due anyway.
    """
    return (tries(seconds, lines) + 1) * (1 + naming(retries)) + retries
