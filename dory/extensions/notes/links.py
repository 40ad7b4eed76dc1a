"""Links and tags in notes, as Obsidian writes them. Pure.

``[[lisbon-hotel]]`` and ``[[Lisbon hotel|where we stay]]`` link to a note by its name or an alias,
``#travel`` is a tag. Tags may also stand in the lines of front matter that a person has written:
``tags: [travel, food]``, or one a line.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from dory.extensions.notes import properties
from dory.extensions.notes.names import made_of

_LINK = re.compile(r"\[\[([^\[\]|#^\n]+)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TAG = re.compile(r"(?<![^\s(,;])#(?=[\w/-]*[^\W\d])([\w/-]+)")
MARK = "[["


def linked(content: str) -> Iterator[str]:
    """The names that a note links to, each once, in order."""
    targets = dict.fromkeys(match[1] for match in _LINK.finditer(content))
    yield from dict.fromkeys(filter(None, map(_named, targets)))


@lru_cache(4096)  # all notes are looked through for links to one
def _named(target: str) -> str:
    return made_of(target.strip().rpartition("/")[2].removesuffix(".md"))


def tags(head: str, content: str) -> tuple[str, ...]:
    """The tags of a note with this front matter and content, each once, without their ``#``."""
    found: dict[str, str] = {}
    for tag in (*_in_front_matter(head), *(match[1] for match in _TAG.finditer(content))):
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _in_front_matter(head: str) -> Iterator[str]:
    fields = properties.read(head) or {} if head else {}
    for text in (*fields.get("tags", []), *fields.get("tag", [])):
        yield from filter(None, (tag.strip("#/") for tag in re.split(r"[\s,]+", text)))
