"""The search/replace edit of a text, for EDIT_FILE and for Dreams. Pure.

An edit is made as a whole, or raises a ``ToolError`` whose one line says what to do instead. If all
lines of a text end in CRLF, they still do after the edit, which need not know about it.
"""

from dory.constants import MEMORY_LIMIT
from dory.errors import ToolError
from dory.text.prompt_files import durable_name


def edited(content: str, search: str, replacement: str, path: str) -> str:
    """Return ``content`` after one search/replace block. The text to search must occur exactly
    once. If it is empty, the replacement is appended.
    """
    plain = unix(content)
    if plain != content:
        after = edited(plain, search.replace("\r", ""), replacement.replace("\r", ""), path)
        return after.replace("\n", "\r\n")
    if "\0" in replacement:
        raise ToolError(f"the new text holds a NUL: {path} was not changed; write it without")
    if not search:  # the common meaning of an empty search part
        gap = "\n" if content and not content.endswith("\n") else ""
        return f"{content}{gap}{replacement}\n"
    count = content.count(search)
    if count != 1:
        what = "is not in" if not count else f"stands {count} times in"
        raise ToolError(
            f"the search text {search[:40]!r} {what} {path}: nothing was changed; give text that"
            " stands there exactly once"
        )
    after = content.replace(search, replacement)
    return after if replacement or after.strip() else ""


def unix(text: str) -> str:
    """Return a text with line feeds only, if all its lines end in CRLF; any other as it is."""
    return text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text


def checked(before: str, after: str, path: str) -> str:
    """Return ``after``. Raises ``ToolError`` if nothing changes, or if a durable file would be too
    long. If people have made it too long, it may become shorter step by step.
    """
    if durable_name(path) and len(after) > max(MEMORY_LIMIT, len(before) - 1):
        raise ToolError(
            f"{path} would have {len(after)} characters, it may have {MEMORY_LIMIT}: nothing was"
            " changed; shorten it first"
        )
    if after == before:
        raise ToolError(f"{path} would not change: it holds that already")
    return after
