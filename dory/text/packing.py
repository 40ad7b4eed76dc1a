"""How many items fit into one request. Pure."""

from collections.abc import Iterable


def fitting(sizes: Iterable[int], limit: int, least: int = 1) -> int:
    """How many of the first items have at most ``limit`` together, given the size of each.

    At least ``least`` items are taken, however large they are; fewer only if there are fewer.
    """
    count = total = 0
    for size in sizes:
        total += size
        if count >= least and total > limit:
            break
        count += 1
    return count
