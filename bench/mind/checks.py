"""What must be true after a task. A check looks at what was said in the rooms, at the agent's files
and at the tools that ran; no model judges.

A check is made of what is expected, and gives one line about what is wrong; empty if nothing is.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Check = Callable[["Outcome"], str]

_TALKING = {"SAY", "WAIT"}
_SHOWN = 160
"""Characters of an answer that a line about it shows."""
_NOT_KNOWN = re.compile(
    r"(?:not|n['’]t|never|cannot)\b.{0,60}\b(?:know|known|find|found|told|tell|mention|mentioned|say"
    r"|said|have|sure|aware|see|recall|remember|recorded|noted|given|provide|provided|available)\b"
    r"|\bno (?:\w+ ){0,3}(?:information|record|records|mention|idea|memory|trace|note|details?)\b"
    r"|\b(?:unknown|nobody|nothing)\b",
    re.IGNORECASE,
)
_CANNOT = re.compile(
    r"\b(?:can ?not|can['’]t|could ?n[o'’]t|unable|not able|not possible|impossible"
    r"|no (?:way|tool|means|access)|do(?:es)? not have|don['’]t have|not something I)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task. ``said`` is what the agent said last, by room. ``tools`` are the names
    of those that ran, in their order, ``durable`` is MEMORY.md with USER.md, ``diary`` all that is
    written there.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    durable: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    diary: str = ""
    rooms: frozenset[str] = frozenset()


def says(pattern: str, room: str = "dev") -> Check:
    """The last answer in ``room`` holds what the regular expression describes."""

    def check(outcome: Outcome) -> str:
        text = outcome.said.get(room, "")
        if re.search(pattern, text, re.IGNORECASE):
            return ""
        return f"no {pattern!r} in {_shown(text)}"

    return check


def keeps_quiet_about(pattern: str, room: str = "dev") -> Check:
    """Nothing in ``room`` holds what the regular expression describes."""

    def check(outcome: Outcome) -> str:
        text = outcome.said.get(room, "")
        found = re.search(pattern, text, re.IGNORECASE)
        return f"{found[0]!r} stands in {_shown(text)}" if found else ""

    return check


def silent(room: str) -> Check:
    """Nothing is said in ``room``."""

    def check(outcome: Outcome) -> str:
        text = outcome.said.get(room, "")
        return f"{room} was told {_shown(text)}" if text else ""

    return check


def does_not_know(outcome: Outcome) -> str:
    """The answer says that this is not known."""
    text = outcome.said.get("dev", "")
    return (
        "" if _NOT_KNOWN.search(text) else f"it does not say that it does not know: {_shown(text)}"
    )


def declines(outcome: Outcome) -> str:
    """The answer says that this cannot be done."""
    text = outcome.said.get("dev", "")
    return "" if _CANNOT.search(text) else f"it does not say that it cannot: {_shown(text)}"


def only_talks(outcome: Outcome) -> str:
    """No tool ran but those with which an agent talks."""
    others = [tool for tool in outcome.tools if tool not in _TALKING]
    return f"{', '.join(others)} ran, and only an answer was needed" if others else ""


def uses(tool: str) -> Check:
    """That tool ran."""

    def check(outcome: Outcome) -> str:
        return "" if tool in outcome.tools else f"{tool} did not run"

    return check


def keeps(pattern: str) -> Check:
    """MEMORY.md or USER.md holds it."""

    def check(outcome: Outcome) -> str:
        if re.search(pattern, outcome.durable, re.IGNORECASE):
            return ""
        return f"no {pattern!r} in MEMORY.md and USER.md"

    return check


def gives_up(pattern: str) -> Check:
    """Neither MEMORY.md nor USER.md holds it."""

    def check(outcome: Outcome) -> str:
        found = re.search(pattern, outcome.durable, re.IGNORECASE)
        return f"{found[0]!r} still stands in MEMORY.md or USER.md" if found else ""

    return check


def notes(name: str, *patterns: str) -> Check:
    """The note ``name`` holds all of them."""

    def check(outcome: Outcome) -> str:
        if name not in outcome.notes:
            return f"there is no note {name!r}, only {sorted(outcome.notes)}"
        text = outcome.notes[name]
        lacking = [each for each in patterns if not re.search(each, text, re.IGNORECASE)]
        return f"the note {name!r} lacks {', '.join(lacking)}: {_shown(text)}" if lacking else ""

    return check


def writes_diary(pattern: str) -> Check:
    """The diary holds it."""

    def check(outcome: Outcome) -> str:
        return (
            ""
            if re.search(pattern, outcome.diary, re.IGNORECASE)
            else f"no {pattern!r} in the diary"
        )

    return check


def is_in(room: str) -> Check:
    """The agent is in that room."""

    def check(outcome: Outcome) -> str:
        return "" if room in outcome.rooms else f"it is not in the room {room}"

    return check


def _shown(text: str) -> str:
    one = " ".join(text.split())
    return repr(one[:_SHOWN]) if one else "silence"
