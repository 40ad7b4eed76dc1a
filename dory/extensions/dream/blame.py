"""How old the lines of a file are, as its versions tell."""

from datetime import datetime
from itertools import islice

from dory.extensions.dream.commits import Objects
from dory.text import diffs

BLAMED = 5000
"""Versions that are looked through; a line that is older is as old as the last of them."""
COMPARED = 200_000
"""Lines of versions that are compared, all in all; the same holds beyond."""


def ages(objects: Objects, head: str, name: str) -> list[datetime]:
    """When each line of the file ``name`` was last changed, as of the commit ``head``."""
    commits = islice(objects.history(head), BLAMED)
    commit = next(commits)
    blob = objects.names(commit.tree).get(name, "")
    text = _text(objects, blob)
    found: dict[int, datetime] = {}
    sought = {number: number for number in range(diffs.count(text))}  # the lines of ``text``, and which of the newest they are
    compared = 0
    for before in commits:
        if not sought or compared > COMPARED:
            break
        blob_before = objects.names(before.tree).get(name, "")
        if blob_before != blob:
            text_before = _text(objects, blob_before)
            carried = diffs.carried(text_before, text)
            compared += diffs.count(text)
            found |= {newest: commit.at for number, newest in sought.items() if number not in carried}
            sought = {carried[number]: newest for number, newest in sought.items() if number in carried}
            blob, text = blob_before, text_before
        commit = before
    found |= dict.fromkeys(sought.values(), commit.at)
    return [found[number] for number in sorted(found)]


def _text(objects: Objects, blob: str) -> str:
    return objects.content(blob).decode("utf-8", "replace") if blob else ""
