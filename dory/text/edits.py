"""The search/replace edit of a text, for whoever may edit one: the agent's EDIT_FILE and a Dream's.
Pure.

An edit is made as a whole or raises a ``ToolError`` whose one line says what to do instead. A text
all of whose lines end in CRLF keeps that, and whoever edits it need not know.
"""

from dory.constants import MEMORY_LIMIT
from dory.errors import ToolError
from dory.text.prompt_files import durable_name


def edited(content: str, search: str, replacement: str, path: str) -> str:
    """``content`` after one search/replace block. The text to search has to stand there exactly
    once; none at all: append, or begin.
    """
    if (plain := unix(content)) != content:
        return edited(plain, search.replace("\r", ""), replacement.replace("\r", ""), path).replace(
            "\n", "\r\n"
        )
    if not search:  # the widely known meaning of an empty search part
        gap = "\n" if content and not content.endswith("\n") else ""
        return f"{content}{gap}{replacement}\n"
    count = content.count(search)
    if count != 1:
        what = "is not in" if not count else f"stands {count} times in"
        raise ToolError(
            f"the search text {search[:40]!r} {what} {path}: nothing was changed; give text that stands there exactly once"
        )
    after = content.replace(search, replacement)
    return after if replacement or after.strip() else ""


def unix(text: str) -> str:
    """A text all of whose lines end in CRLF, with line feeds alone; any other as it is."""
    return text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text


def checked(before: str, after: str, path: str) -> str:
    """``after``, unless it is no change, or more than a durable file may hold. By hand one may have
    grown beyond: then it may shrink.
    """
    if durable_name(path) and len(after) > max(MEMORY_LIMIT, len(before) - 1):
        raise ToolError(
            f"{path} would have {len(after)} characters, it may have {MEMORY_LIMIT}: nothing was changed; shorten it first"
        )
    if after == before:
        raise ToolError(f"{path} would not change: it holds that already")
    return after
