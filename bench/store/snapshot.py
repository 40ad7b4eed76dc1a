"""The other design: all entries in one file, and the whole of it written anew with each. Durable
and atomic, too, and simple.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.store import cost
from bench.store.syncs import Count
from dory.storage import files

WRITES = 3


def of_writes(folder: Path, texts: Sequence[str], count: Count) -> dict[str, Any]:
    """The cost of one more entry when there are so many ``texts``. Its syncs are two, for the file
    and for its folder.
    """
    path = folder / "snapshot.json"
    entries = [{"id": number, "kind": "heard", "text": text} for number, text in enumerate(texts)]

    def write() -> None:
        entries.append({"id": len(entries), "kind": "heard", "text": texts[0]})
        files.replace(path, json.dumps(entries).encode())

    costs = [cost.of(write, count) for _ in range(WRITES)]
    opening = cost.of(lambda: json.loads(path.read_bytes()), count)
    return {
        "write_ms": 1e3 * min(cost[0] for cost in costs),
        "write_bytes": costs[0][1],
        "open_ms": 1e3 * opening[0],
        "file_bytes": files.size(path),
    }
