"""What a durable write costs: processor time of this process, bytes handed to the kernel, syncs.

Bytes are ``wchar`` of ``/proc/self/io``, so Linux only: what was written, wherever it landed. The
log's way back into the file is told apart, as each write's part in one ``tidy``, which runs beside
the loop.
"""

import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

from bench.store.growth import Growth
from bench.store.syncs import Count

WRITES = 200
"""Fewer than fill the log: an agent tidies it whenever it rests."""


def of_writes(growth: Growth, count: Count) -> dict[str, Any]:
    """The cost of ``WRITES`` single writes, one after the other, and of tidying up after them."""
    documents = list(islice(growth.upcoming(), WRITES))
    growth.add(
        documents[0]
    )  # the first one behind a tidy begins the log anew, which takes a sync more
    costs = [of(partial(growth.add, document), count) for document in documents[1:]]
    after = of(growth.store.tidy, count)
    growth.plain.add(documents)
    seconds, written, syncs = ([cost[at] for cost in costs] for at in range(3))
    return {
        "write_ms": 1e3 * mean(seconds),
        "write_ms_median": 1e3 * median(seconds),
        "write_ms_worst": 1e3 * max(seconds),
        "write_bytes": mean(written),
        "write_bytes_median": median(written),
        "write_bytes_worst": max(written),
        "syncs": mean(syncs),
        "syncs_worst": max(syncs),
        "tidy_ms": 1e3 * after[0] / len(costs),
        "tidy_bytes": after[1] / len(costs),
    }


def of(work: Callable[[], None], count: Count) -> tuple[float, int, int]:
    """Processor seconds, bytes and syncs of one piece of work."""
    syncs, written, began = count.syncs, _written(), time.process_time()
    work()
    return time.process_time() - began, _written() - written, count.syncs - syncs


def _written() -> int:
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["wchar"])
