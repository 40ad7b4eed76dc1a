"""Room text made harmless. Pure.

Anybody may have written it, so nothing in it may steer the terminal or reorder what is read: escape sequences (ESC and the C1 controls),
carriage returns that overwrite a line, right-to-left overrides that show a name as another. Each such character is shown as ``�``.
"""

import re

from dory.records import Line
from dory.rooms import laid_out

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """``text`` with every character that steers a terminal replaced; line feeds and tabs stay."""
    return _STEERING.sub("�", text)


def plain(line: Line) -> str:
    """A message as ``name: text``; further lines are indented, so that none can pass for another message."""
    return visible(f"{line.name}: {laid_out(line.text)}")
