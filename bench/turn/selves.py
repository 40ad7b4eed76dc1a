"""A turn of an agent with a self, and of the same one whose soul, memories, diary, conversations,
relationships and links are switched off.

Both have lived the same, and take turns by turns, so that what else the machine does meets both
alike.
"""

import statistics
from datetime import timedelta

from bench.store.noise import Noise
from bench.turn import turns
from bench.turn.homes import LINE, PERSON, Home
from dory.clock import utc
from dory.extensions import NAMES, Stores
from dory.extensions.diary.store import Entry
from dory.extensions.soul.store import Beliefs
from dory.identity.identity import Identity

SELF = ("soul", "memories", "diary", "conversations", "relationships", "link")
BELIEFS, MEMORIES, DAYS = 20, 2000, 100
ROUNDS = 3


def measure(grown: Home, tokens: int, count: int) -> dict[str, float]:
    """Milliseconds of a turn ``with`` and ``without``, medians of so many turns; ``tokens`` stand
    in the context.
    """
    kinds = {"with": NAMES, "without": tuple(name for name in NAMES if name not in SELF)}
    hashes = {kind: grown.settle(tokens) for kind in kinds}
    by_kind: dict[str, list[float]] = {kind: [] for kind in kinds}
    for hash in hashes.values():
        live(Identity(grown.folder, hash, utc))
    for _ in range(ROUNDS):
        for kind, names in kinds.items():
            by_kind[kind] += [
                turns.take(grown.folder, hashes[kind], count, ", ".join(names))["turn_ms"]
            ]
    return {kind: statistics.median(times) for kind, times in by_kind.items()}


def live(me: Identity) -> None:
    """Let an agent have what some months leave it."""
    noise, past, beliefs = Noise(4), Stores(me.folder, me.blobs), Beliefs(me.folder)
    for number in range(BELIEFS):
        beliefs.add(f"{noise.text(LINE)} {number}", utc())
    with past.store.writing():
        for number in range(MEMORIES):
            past.bank.add(f"{noise.text(LINE)} {number}", utc())
        past.relationships.assign(
            PERSON, {"relationship_type": "ally", "rationale": noise.text(LINE)}, utc()
        )
    for number in range(DAYS):
        past.diary.write(
            Entry(noise.text(LINE), "21:00", "calm", "home"),
            (utc() - timedelta(days=number)).date(),
        )
    past.store.close()
