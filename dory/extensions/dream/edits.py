"""The steps of a Dream: tool calls that read and edit USER, MEMORY and VOICE, why each was made, and what came of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dory.errors import ToolError
from dory.text import edits, references
from dory.text.prompt_files import DURABLE, durable_name
from dory.types import Call

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
    if name := durable_name(call.args):
        return name
    raise ToolError(f"a Dream reads and edits {', '.join(DURABLE)} only, not {references.one_line(call.args, TITLE_LIMIT)!r}")


def decoded(content: bytes, name: str) -> str:
    """The text of a file. Raises ``ToolError`` when it is none: written back it would not be what it was."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{name} is no UTF-8 text: nothing was changed; a person has to save it as such") from None


def revised(text: str, name: str, blocks: Sequence[tuple[str, str]]) -> str:
    """The text of a file after the search/replace blocks of one call. Of what is appended those lines stay away that stand there
    already. Raises ``ToolError`` when one does not fit, or nothing would change.
    """
    if not blocks:
        raise ToolError("no search/replace block: put '<<<<<<< SEARCH', old text, '=======', new text, '>>>>>>> REPLACE' below the line")
    after = text
    for search, replacement in blocks:
        new = replacement if search else _new(replacement, lines(after))
        if search or lines(new):
            after = edits.edited(after, sought(after, search, new), new, name)
    return edits.checked(text, after, name)


def sought(text: str, search: str, replacement: str) -> str:
    """What a block replaces in a text: a line that is removed goes with its end."""
    return f"{search}\n" if search and not replacement and f"\n{search}\n" in f"\n{edits.unix(text)}" else search


def lines(text: str) -> set[str]:
    """The lines of a text that say something."""
    return {line for line in plain(text).split("\n") if line.strip()}


def plain(text: str) -> str:
    """A text without what some editors put before it and at the end of each line."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _new(appended: str, standing: set[str]) -> str:
    return "\n".join(line for line in plain(appended).split("\n") if line not in standing)
