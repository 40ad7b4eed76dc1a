"""The steps of a Dream: tool calls that read and edit USER, MEMORY and VOICE, why each was made, and what came of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dory import edits, refs
from dory.errors import ToolError
from dory.records import Call
from dory.texts import DURABLE

READ, EDIT = "READ_FILE", "EDIT_FILE"
TITLE_LIMIT = 60
"""Characters that are shown of what a model wrote as a call's first line."""


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call, why it was made, and what came of it in words."""

    call: Call
    reason: str
    outcome: Literal["changed", "refused", "read"]
    told: str


def file_of(call: Call) -> str:
    """The one of the three files that a call names. Raises ``ToolError``."""
    name = call.args.partition(" ")[0].removeprefix("./")
    if name not in DURABLE:
        raise ToolError(f"a Dream reads and edits {', '.join(DURABLE)} only, not {refs.one_line(name, TITLE_LIMIT)!r}")
    return name


def decoded(content: bytes, name: str) -> str:
    """The text of a file. Raises ``ToolError`` when it is none: written back it would not be what it was."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{name} is no UTF-8 text: nothing was changed; a person has to save it as such") from None


def revised(text: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """The text of a file after the search/replace blocks of one call. To append what stands there already is no change. Raises ``ToolError``
    when one does not fit, or nothing would change.
    """
    if not blocks:
        raise ToolError("no search/replace block: put '<<<<<<< SEARCH', old text, '=======', new text, '>>>>>>> REPLACE' below the line")
    after = text
    for search, replacement in blocks:
        if not search and lines(replacement) <= lines(after):
            continue
        whole = f"{search}\n" if search and not replacement and f"\n{search}\n" in f"\n{after}" else search  # a line goes with its end
        after = edits.edited(after, whole, replacement, name)
    return edits.checked(text, after, name)


def lines(text: str) -> set[str]:
    """The lines of a text that say something."""
    return {line for line in text.split("\n") if line.strip()}
