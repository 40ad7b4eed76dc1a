"""Where prompt text is read from: SOUL.md, SEGMENT.md and SUMMARISE.md at the top, the rest in ``prompts/``."""

from pathlib import Path

from dory.errors import FormatError
from dory.limits import MEMORY_LIMIT

USER, MEMORY, VOICE = DURABLE = ("USER.md", "MEMORY.md", "VOICE.md")
"""What an agent knows for good: who the people are, what stays true, how it sounds. One that is missing is empty."""
SEGMENT, SUMMARISE = "SEGMENT.md", "SUMMARISE.md"
"""The texts of its own, besides those, that an agent may edit."""
HOUSE = Path(__file__).parent.parent
"""The folder that holds the program."""


def template(home: Path, name: str) -> str:
    """A top-level text: the one in ``home`` if there is one, else the program's own. Raises ``FormatError`` when it is no text."""
    own = home / name
    path = own if own.exists() else HOUSE / name
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 text ({error}): save it as such, or remove it to use the program's own") from None


def prompt(name: str) -> str:
    """``prompts/<name>.md``, without white space at its ends."""
    return (HOUSE / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def shown(text: str, name: str, more: str = "") -> str:
    """As much of a durable text as it may have, and a line that tells of the rest; ``more`` says that there is still more than ``text``."""
    rest = len(text) - MEMORY_LIMIT
    return f"{text[:MEMORY_LIMIT]}\n… {more}{rest} more characters: shorten {name}\n" if rest > 0 else text
