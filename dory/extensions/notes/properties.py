"""Front matter as people and editors write it: YAML between two lines ``---``. Pure.

It is read leniently: nothing in it has to be there, and what cannot be understood is no front
matter. Every value is a text or a list of texts, as it stands there: ``2026`` is no number.
"""

import re
from collections.abc import Iterator

_BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LIMIT = 20_000
"""Characters of front matter. A longer block is text."""
_KEY = re.compile(r"([^\s:#\-\"'\[{][^:]*+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*+:(?:[ \t]|$)")


def split(text: str) -> tuple[str, str]:
    """Return the front matter of ``text``, without its two lines, and what stands below it. The
    former is empty if there is none, or none that can be understood.
    """
    match = _BLOCK.match(text)
    if not match or read(match[1]) is None:
        return "", text
    return match[1], text[match.end() :]


def read(block: str) -> dict[str, list[str]] | None:
    """The properties in a block of front matter, by name in lower case; None if it is none."""
    import yaml  # programs that only start need not wait for it

    from dory.text.plain_yaml import PlainLoader

    if len(block) > _LIMIT:
        return None
    try:
        found = yaml.load(block, Loader=PlainLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if found in (None, "") and not block.strip():
        return {}
    if not isinstance(found, dict) or len(found) != len(names(block)):
        return None
    return {str(name).lower(): list(_texts(value)) for name, value in found.items()}


def parts(block: str) -> Iterator[tuple[str, str]]:
    """The lines of each property, with its name in lower case; comments have an empty name."""
    name, lines = "", ""
    for line in block.splitlines(keepends=True):
        if match := _KEY.match(line):
            if lines:
                yield name, lines
            name, lines = match[1].strip("\"' \t").lower(), ""
        lines += line
    if lines:
        yield name, lines


def names(block: str) -> list[str]:
    """The names of the properties in a block, in lower case."""
    return [name for name, _ in parts(block) if name]


def without(block: str, *names: str) -> str:
    """The block without the properties of these names."""
    return "".join(lines for name, lines in parts(block) if name not in names)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from map(str, value)
    elif str(value).strip():
        yield str(value).strip()
