"""Room text made safe for a terminal. Pure.

Anybody may have written a message. Nothing in it may control the terminal, change the order in
which text is read, or say to a model what a person does not see. Replaced by ``�`` are therefore
escape sequences (ESC and the C1 controls), carriage returns that overwrite a line, right-to-left
overrides that disguise a name, and the invisible tag characters. Tags remain only where they spell
a flag.
"""

import re

from dory.storage.rooms import laid_out
from dory.types import Line

_FLAG = "\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f"
_UNSAFE = re.compile(
    f"({_FLAG})|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u206f"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """``text`` with every unsafe character replaced. Line feeds and tabs stay."""
    return _UNSAFE.sub(lambda match: match[1] or "�", text)


def plain(line: Line) -> str:
    """A message as ``name: text``. Further lines are indented, so that none can pass for another
    message.
    """
    return visible(f"{line.name}: {laid_out(line.text)}")
