"""``dream.json``: what a Dream changes, written down before the first of it is made, so that a start can complete it.

{"version": 1, "record": "5d41…", "gist": "…", "base": "<commit>", "life": 1234, "cursor": 42,
 "changes": [{"name", "blocks", "reason", "after", "dropped"}]}
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dory.storage import files, json_file

NAME = "dream.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Change:
    """The search/replace blocks of one edit of one file, and why it is made; what the file holds after it, unless somebody else edits it, too;
    why it could not be made, if so.
    """

    name: str
    blocks: Sequence[tuple[str, str]]
    reason: str
    after: str
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """A revision that is being made: its record and what LIFE will say of it, the commit and the byte of LIFE at which it began, the last entry
    of the history that it is about, and what it changes.
    """

    record: str
    gist: str
    base: str
    life: int
    cursor: int
    changes: Sequence[Change]


def write(path: Path, begun: Begun) -> None:
    """Durable when this returns."""
    content = json.dumps({"version": VERSION, **asdict(begun)}, ensure_ascii=False)
    files.replace(path, content.encode("utf-8", "replace"))


def read(path: Path) -> Begun | None:
    """What is left to be done; None for nothing. Raises ``FormatError``."""
    return json_file.read(path, VERSION, _begun, "remove it, and what it has not changed yet is not changed", limit=None)


def _begun(row: dict[str, Any]) -> Begun:
    del row["version"]
    rows = [(one.pop("blocks"), one) for one in row.pop("changes")]
    changes = [Change(blocks=[(search, replacement) for search, replacement in blocks], **one) for blocks, one in rows]
    return Begun(**row, changes=changes)
