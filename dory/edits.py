"""The search/replace edit of a text, for whoever may edit one: the agent's EDIT_FILE and a Dream's. Pure.

An edit is made as a whole or raises a ``ToolError`` whose one line says what to do instead.
"""

from dory.errors import ToolError
from dory.limits import MEMORY_LIMIT
from dory.texts import DURABLE


def edited(content: str, search: str, replacement: str, path: str) -> str:
    """``content`` after one search/replace block. The text to search has to stand there exactly once; none at all: append, or begin."""
    if not search:  # the widely known meaning of an empty search part
        gap = "\n" if content and not content.endswith("\n") else ""
        return f"{content}{gap}{replacement}\n"
    count = content.count(search)
    if count != 1:
        what = "is not in" if not count else f"stands {count} times in"
        raise ToolError(f"the search text {search[:40]!r} {what} {path}: nothing was changed; give text that stands there exactly once")
    after = content.replace(search, replacement)
    return after if replacement or after.strip() else ""


def checked(before: str, after: str, path: str) -> str:
    """``after``, unless it is no change, or more than a durable file may hold. By hand one may have grown beyond: then it may shrink."""
    if path.removeprefix("./") in DURABLE and len(after) > max(MEMORY_LIMIT, len(before) - 1):
        raise ToolError(f"{path} would have {len(after)} characters, it may have {MEMORY_LIMIT}: nothing was changed; shorten it first")
    if after == before:
        raise ToolError(f"{path} would not change: it holds that already")
    return after
