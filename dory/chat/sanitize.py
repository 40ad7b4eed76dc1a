"""Messages as lines of plain text, safe for a terminal. Pure."""

from dory.storage.rooms import laid_out
from dory.text.characters import visible
from dory.types import Line

_KINDS = {"USER": " (person)", "NOTICE": " (notice)"}


def plain(line: Line) -> str:
    """A message as ``name: text``. The name of whoever is no agent is followed by what it is, so
    that no person and no notice passes for an agent. Further lines are indented, so that none can
    pass for another message.
    """
    kind = _KINDS.get(line.kind, "")
    return visible(f"{line.name}{kind}: {laid_out(line.text)}")
