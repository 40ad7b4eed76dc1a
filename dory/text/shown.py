"""What a text says of calls that it only shows to a person. Pure."""

import re

EXAMPLE = re.compile(
    r"\b(?:examples?|e\.g\.|for instance|such as|(?:could|can|would|might|may|should) (?:write|use|"
    r"say|call|send|type|be|look)|looks? like|like this|format|syntax|beispiel)\b",
    re.IGNORECASE,
)
"""Words that speak of an example."""
_VERB = r"(?:write|use|say|call|send|type|do|run)"
_WRITING = re.compile(
    rf"\b(?:you(?: \w+)? (?:write|type)|(?:never|not|don['’]t)(?: \w+)? {_VERB})\b"
    r"|^\W*(?:never|do not|don['’]t)\b|\bso schreib|(?<!\bich )\bschreibe?\b"
    r"|\b(?:du|man) schreib(?:s?t)\b|\bschreib(?:s?t) (?:du|man)\b"
    r"|\bwürde(?:s?t)?\b[^.!?]{0,80}\bschreiben\b",
    re.IGNORECASE,
)
_DRASTIC = re.compile(r"REMOVE|WRITE|EDIT|RENAME|LEAVE")
_MOST = 400
"""Characters of a line that are looked at."""


def speaks(line: str) -> bool:
    """Whether the line speaks of what is written as an example, or never."""
    line = line[-_MOST:]
    return bool(EXAMPLE.search(line) or _WRITING.search(line))


def announces(line: str) -> bool:
    """Whether the line announces that something is shown below it."""
    return line.rstrip(" \t\r*_").endswith(":") and speaks(line)


def drastic(tool: str) -> bool:
    """Whether the tool removes or overwrites something."""
    return bool(_DRASTIC.search(tool))
