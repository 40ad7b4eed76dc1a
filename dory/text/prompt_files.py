"""Where prompt text is read from: SOUL.md, SEGMENT.md and SUMMARISE.md at the top, the rest in
``prompts/``.
"""

import os
from pathlib import Path

from dory import regular_files
from dory.constants import MEMORY_LIMIT
from dory.errors import FormatError
from dory.text import formatting

USER, MEMORY, VOICE = DURABLE = ("USER.md", "MEMORY.md", "VOICE.md")
"""The durable texts of an agent: who the people are, what stays true, how it sounds. A missing one
counts as empty.
"""
SEGMENT, SUMMARISE = "SEGMENT.md", "SUMMARISE.md"
"""The other texts that an agent may edit."""
INSTRUCTIONS = {
    SEGMENT: "how a context that has grown too long is cut into stretches",
    SUMMARISE: "how a stretch that fades is summed up",
}
"""The gists of the references to them: what they are for, so that none reads as an order."""
_PACKAGED = Path(__file__).parents[1] / "program"
INSTALLED = _PACKAGED.is_dir()
"""Whether Dory was installed as a package. If not, it runs from a checkout."""
ROOT = _PACKAGED if INSTALLED else Path(__file__).parents[2]
"""The folder that holds the programs, SOUL.md and ``prompts/``: part of the package where that is
installed (see ``force-include`` in pyproject.toml), otherwise the checkout.
"""


def invocation(program: str) -> str:
    """How a message names ``agent.py`` and the like: ``dory agent`` where Dory is installed."""
    return f"dory {program.removesuffix('.py')}" if INSTALLED else program


def template(home: Path, name: str) -> str:
    """Return a top-level text: the one in ``home`` if there is one, else the program's own. Raises
    ``FormatError`` if it is no text.
    """
    own = home / name
    path = own if own.exists() else ROOT / name
    try:
        return regular_files.content(os.path.realpath(path)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path} is not UTF-8 text ({error}): save it as such, or remove it to use the"
            " program's own"
        ) from None


def as_text(content: bytes) -> str:
    """Return what a file holds as text: bytes that are no UTF-8, and NUL, are shown as �. A file
    with a NUL is binary for git and READ_FILE, and some endpoints refuse a prompt that has one.
    """
    return content.decode("utf-8", "replace").replace("\0", "\ufffd")


def durable_name(argument: str) -> str:
    """Return the durable text that a tool's argument begins with; empty if it names none."""
    name = argument.partition(" ")[0].removeprefix("./")
    return name if name in DURABLE else ""


def prompt(name: str) -> str:
    """Return ``prompts/<name>.md``, without white space at its ends."""
    return (ROOT / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def heading(name: str, text: str) -> str:
    """Return the heading of a durable text: its name, its length, and how long it may be."""
    return f"{name.removesuffix('.md').lower()} {len(text)} of {MEMORY_LIMIT} characters"


def shown(name: str, text: str) -> str:
    """Return as much of a durable text as it may have, with a line about the rest."""
    rest = len(text) - MEMORY_LIMIT
    if rest <= 0:
        return text
    more = formatting.plural(rest, "more character")
    return f"{text[:MEMORY_LIMIT]}\n… {more}: shorten {name}\n"
