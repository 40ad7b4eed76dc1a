"""Room text made harmless. Pure.

Anybody may have written it, so nothing in it may steer the terminal, reorder what is read, or say
to a model what a person does not see: escape sequences (ESC and the C1 controls), carriage returns
that overwrite a line, right-to-left overrides that show a name as another, the tag characters, an
invisible alphabet. Each such character is shown as ``�``; only a flag may be spelt with tags.
"""

import re

from dory.storage.rooms import laid_out
from dory.types import Line

_FLAG = "\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f"
_STEERING = re.compile(
    f"({_FLAG})|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u206f\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """``text`` with every character that steers a terminal replaced; line feeds and tabs stay."""
    return _STEERING.sub(lambda found: found[1] or "�", text)


def plain(line: Line) -> str:
    """A message as ``name: text``; further lines are indented, so that none can pass for another
    message.
    """
    return visible(f"{line.name}: {laid_out(line.text)}")
