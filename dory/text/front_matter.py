"""Front matter: lines ``name: value`` between two lines ``---`` at the head of a text. Pure.

    ---
    dory: blob 1
    kind: response
    ---
    the body, character for character

Values are kept as they are written. What a value means, which names there must be and which version
is known is decided by the module whose file it is.
"""

from collections.abc import Mapping, Sequence

_EDGE = "---\n"


def split(text: str, names: Sequence[str] = ()) -> tuple[dict[str, str], str]:
    """Return the fields of ``text``, in their order, and its body.

    If ``names`` are given, each of them must be there, and no other. Raises ``ValueError`` if there
    is no front matter, if a line is not a field, or if a name occurs twice.
    """
    end = text.find(f"\n{_EDGE}")
    if not text.startswith(_EDGE) or end < 0:
        raise ValueError("no front matter: it begins and ends with a line ---")
    fields: dict[str, str] = {}
    for line in text[len(_EDGE) : end + 1].split("\n")[:-1]:
        name, colon, value = line.partition(": ")
        if not colon or name in fields or (names and name not in names):
            allowed = f"none of {', '.join(names)}" if names else "not a field"
            raise ValueError(
                f"the line {line[:60]!r} is {allowed}, each once, with a colon and a space"
            )
        fields[name] = value
    if missing := [name for name in names if name not in fields]:
        raise ValueError(f"{', '.join(missing)} is missing")
    return fields, text[end + 1 + len(_EDGE) :]


def join(fields: Mapping[str, object], body: str) -> str:
    """Return the text that ``split`` takes apart. Names and values must be single lines."""
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"{_EDGE}{lines}{_EDGE}{body}"
