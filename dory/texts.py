"""Where prompt text is read from: SOUL.md, SEGMENT.md and SUMMARISE.md at the top, the rest in ``prompts/``."""

from pathlib import Path

HOUSE = Path(__file__).parent.parent
"""The folder that holds the program."""


def template(home: Path, name: str) -> str:
    """A top-level text: the one in ``home`` if there is one, else the program's own."""
    own = home / name
    return (own if own.exists() else HOUSE / name).read_bytes().decode("utf-8", "replace")


def prompt(name: str) -> str:
    """``prompts/<name>.md``, without white space at its ends."""
    return (HOUSE / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
