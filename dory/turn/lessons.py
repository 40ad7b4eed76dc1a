"""What the prompt says of tools beyond their usage. An extension has it in ``lessons.md`` in its
own folder, so that it goes when the extension goes:

    What the prompt says of the extension itself.

    # NOTE_ADD
    What it is good for, perhaps with an example.

Examples have placeholders, ``<what to keep>``: a name or a date in one would be taken for something
that happened. A tool that an agent's own SOUL shows at the beginning of a line is taught there.
"""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dory.turn.extension import Tool

NAME = "lessons.md"
_TITLE = re.compile(r"^# ([A-Z_]+)\n", re.MULTILINE)
_INDENT = "    "


def guidance(module: str) -> str:
    """What the ``lessons.md`` beside the file of a ``module`` says of the extension itself."""
    return _parts(module)[""]


def taught(module: str, *tools: Tool) -> tuple[Tool, ...]:
    """The declared ``tools`` with their lessons, from the ``lessons.md`` beside the file of a
    ``module``. Raises ``KeyError`` if a tool has none.
    """
    parts = _parts(module)
    return tuple(replace(tool, lesson=parts[tool.name]) for tool in tools)


def listed(tools: Sequence[Tool], soul: str) -> str:
    """The usage of each tool on a line of its own, its lesson indented below it."""
    lines: list[str] = []
    for tool in tools:
        lines.append(tool.usage)
        if tool.lesson and not re.search(rf"^[ \t]*+{re.escape(tool.name)}\b", soul, re.MULTILINE):
            lines.append(textwrap.indent(tool.lesson, _INDENT))
    return "\n".join(lines)


def briefly(tools: Sequence[Tool]) -> str:
    """The usage of each everyday tool on a line of its own, then the names of the others."""
    everyday = [tool.usage for tool in tools if tool.everyday]
    others = [tool.name for tool in tools if not tool.everyday]
    more = [f"    others: {', '.join(others)}"] if others else []
    return "\n".join([*everyday, *more])


def _parts(module: str) -> dict[str, str]:
    """The text of the lessons by tool; what stands before the first has an empty name."""
    text = Path(module).with_name(NAME).read_text(encoding="utf-8")
    first, *rest = _TITLE.split(text)
    names, lessons = rest[::2], rest[1::2]
    return {"": first.strip(), **dict(zip(names, map(str.strip, lessons), strict=True))}
