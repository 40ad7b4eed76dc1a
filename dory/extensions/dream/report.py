"""The report of a Dream for people, as markdown: what it studied, what it decided and why, what it
changed, and what was refused. Pure.
"""

from collections.abc import Sequence

from dory.extensions.dream.edits import DreamEdit
from dory.extensions.dream.history import Item
from dory.extensions.dream.session import DreamResult
from dory.text import formatting, tool_calls
from dory.types import Call

_TOLD_LIMIT = 400
"""Characters of what came of a call."""


def written(title: str, dreamt: DreamResult, steps: Sequence[DreamEdit]) -> str:
    """The whole of a Dream for people, as markdown."""
    studied = "\n".join(f"{item.cursor} {item.timestamp}\n{item.content}" for item in dreamt.items)
    sections = {
        "What it studied": _indented(studied),
        "What it decided, and why": _indented(dreamt.study),
        "What it read": "\n".join(
            listed(step.call, step.reason, "") for step in steps if step.outcome == "read"
        ),
        "What it changed": _steps(steps, "changed"),
        "What was refused or dropped": _steps(steps, "refused"),
    }
    if dreamt.failure:
        sections["Why it failed, and what it answered"] = (
            f"{dreamt.failure}\n\n{_indented(dreamt.answers)}"
        )
    body = "".join(
        f"\n## {heading}\n\n{section or 'Nothing.'}\n" for heading, section in sections.items()
    )
    return f"# {title}\n{body}"


def _steps(steps: Sequence[DreamEdit], outcome: str) -> str:
    return "\n".join(
        listed(step.call, step.reason, step.message) for step in steps if step.outcome == outcome
    )


def listed(call: Call, reason: str, outcome: str) -> str:
    """A call with its reason, and what came of it."""
    told = f" ({formatting.one_line(outcome, _TOLD_LIMIT)})" if outcome else ""
    return f"- {reason}{told}\n\n{_indented(tool_calls.render([call]))}\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def span(items: Sequence[Item]) -> str:
    """The numbers of the entries: ``7 to 9``."""
    if len(items) == 1:
        return str(items[0].cursor)
    return f"{items[0].cursor} to {items[-1].cursor}"


def count(changes: int) -> str:
    """``no changes``, ``1 change``, ``2 changes``."""
    return "1 change" if changes == 1 else f"{changes or 'no'} changes"
