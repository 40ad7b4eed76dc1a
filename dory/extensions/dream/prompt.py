"""What the model of a Dream sees: the guide, and the blocks of the prompt.

The guide says how to dream. It is ``dream.md`` in the agent's folder, which people may write, else
``prompts/dream.md``, the same for all agents.

The blocks are the three files, what was removed from them or put back on purpose
(``deliberate.py``), and the new history. No stretch of the history is left out: if an entry is
longer than the prompt may hold, its bullets are shortened. After each line of a file stands when it
last changed, so the model can tell what is newer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import repeat

from dory import clock
from dory.constants import MEMORY_LIMIT
from dory.errors import DoryError, FormatError
from dory.extensions.dream import edits
from dory.extensions.dream.deliberate import Dated, Deliberate, resembling
from dory.extensions.dream.history import Item
from dory.identity.identity import Identity
from dory.storage import files
from dory.text import formatting, packing, prompt_files, references
from dory.text.prompt_files import DURABLE, heading

NAME = "dream.md"
LIMIT = 16_000
"""Bytes of an agent's own guide: it stands in every request of a Dream."""
FIRST_LIMIT = 300
"""Characters of a bullet's first line, which names its stretch, and of a removed line."""
_BULLET = re.compile(r"\n(?=- )")
_CUT = "\n  …"


class Guide:
    """The guide of one identity."""

    def __init__(self, me: Identity) -> None:
        self._me = me
        self._own = me.folder / NAME

    def text(self) -> str:
        """The guide, redacted. Raises ``FormatError`` when it is too long or cannot be read."""
        if not self._own.exists():
            return prompt_files.prompt("dream")
        try:
            content = files.read_from(self._own, 0, LIMIT + 1)
        except OSError as error:
            raise FormatError(
                f"{NAME} cannot be read ({error.strerror}): put a text file in its place,"
                " or remove it"
            ) from error
        if len(content) > LIMIT:
            raise FormatError(
                f"{NAME} may have {LIMIT} bytes: shorten it, or remove it to go back to"
                f" prompts/{NAME}"
            )
        return self._me.redact(content.decode("utf-8", "replace"))

    def command(self, argument: str) -> str:
        """Without an argument: the guide and where it stands. With ``init``: make the agent's own
        guide. Raises ``DoryError`` when it has one already.
        """
        match argument.strip():
            case "":
                return self._shown()
            case "init":
                return self._make()
        raise DoryError(
            "write /dream-prompt to see how Dreams are guided,"
            " /dream-prompt init to make a guide of the agent's own"
        )

    @property
    def _shown_path(self) -> str:
        return f"agents/{self._me.hash}/{NAME}"

    def _shown(self) -> str:
        if self._own.exists():
            where = self._shown_path
        else:
            where = f"prompts/{NAME}, for all; /dream-prompt init makes one of its own"
        return f"{where}:\n\n{self.text()}"

    def _make(self) -> str:
        if self._own.exists():
            raise DoryError(
                f"{self._shown_path} is there already: edit it, or remove it to go back to"
                f" prompts/{NAME}"
            )
        files.replace(self._own, f"{prompt_files.prompt('dream')}\n".encode())
        return (
            f"{self._shown_path} guides the next Dream: edit it as you like; remove it to go back"
            f" to prompts/{NAME}"
        )


def fitting(items: Sequence[Item], limit: int) -> list[Item]:
    """The oldest entries that fit into ``limit`` characters of a prompt, at least one. If the first
    alone does not fit, it is shortened.
    """
    count = packing.fitting((len(item.content) for item in items), limit)
    if count == 1:
        return [shortened(items[0], limit)]
    return list(items[:count])


def fewer(items: Sequence[Item]) -> list[Item]:
    """The older half of the entries. A single entry is shortened to half of its characters. Empty
    when it cannot be shortened any more.
    """
    if len(items) > 1:
        return list(items[: len(items) // 2])
    shorter = shortened(items[0], len(items[0].content) // 2)
    return [shorter] if len(shorter.content) < len(items[0].content) else []


def shortened(item: Item, limit: int) -> Item:
    """An entry in ``limit`` characters, or as many as its first lines need.

    Each bullet keeps its first line and an equal share of the characters that are left. No stretch
    is left out: the full text is behind the hash in the bullet's first line.
    """
    if len(item.content) <= limit:
        return item
    bullets = _BULLET.split(item.content)
    sizes = [min(len(bullet.partition("\n")[0]), FIRST_LIMIT) for bullet in bullets]
    missing = [len(bullet) - size for bullet, size in zip(bullets, sizes, strict=True)]
    left = max(0, limit - sum(sizes) - len(bullets) * len(f"{_CUT}\n"))
    # The short bullets come first. What they do not need is left for the longer ones.
    by_missing = sorted(range(len(bullets)), key=lambda place: missing[place])
    for done, place in enumerate(by_missing):
        share = min(missing[place], left // (len(bullets) - done))
        sizes[place] += share
        left -= share
    kept = [
        bullet if size == len(bullet) else f"{bullet[:size].rstrip(_CUT)}{_CUT}"
        for bullet, size in zip(bullets, sizes, strict=True)
    ]
    return replace(item, content="\n".join(kept))


def shown(text: str) -> str:
    """A file as it is shown: if it is too long, only its beginning."""
    return f"{text[:MEMORY_LIMIT]}{_excess_notice(text)}"


def laid_out(
    texts: Mapping[str, str],
    ages: Mapping[str, Sequence[datetime]],
    deliberate: Deliberate,
    items: Sequence[Item],
) -> str:
    """All the blocks, each below its header, with escaped contents."""
    blocks = [_file(name, texts.get(name, ""), ages.get(name, ())) for name in DURABLE]
    told = "\n".join(item.content for item in items)
    blocks += _purposes("removed", resembling(deliberate.removed, told))
    blocks += _purposes("restored", resembling(deliberate.restored, told))
    if deliberate.undone:
        blocks.append(f"[#undone]\n{references.escape(deliberate.undone)}\n")
    return "".join([*blocks, "[#history]\n", *map(_entry, items)])


def _purposes(header: str, lines: Sequence[Dated]) -> list[str]:
    """A block of lines that were removed or put back, each behind its file; none if there are
    none.
    """
    if not lines:
        return []
    shown_lines = [
        _dated(
            references.escape(formatting.one_line(f"{dated.name}: {dated.line}", FIRST_LIMIT)),
            dated.at,
        )
        for dated in lines
    ]
    return [f"[#{header}]\n", *shown_lines]


def _file(name: str, text: str, ages: Sequence[datetime]) -> str:
    """The block of a file. The times are shown only if there is one for every line."""
    beginning = references.escape(edits.plain(text[:MEMORY_LIMIT]))
    lines = beginning.removesuffix("\n").split("\n") if beginning else []
    complete = len(ages) == text.removesuffix("\n").count("\n") + 1
    times: Iterator[datetime | None] = iter(ages if complete else repeat(None))
    dated = "".join(_dated(line, at) for line, at in zip(lines, times, strict=False))
    return f"[#{heading(name, text)}]\n{dated}{_excess_notice(text).lstrip()}"


def _excess_notice(text: str) -> str:
    """A line that says how much of a file is not shown; empty when all is."""
    excess = len(text) - MEMORY_LIMIT
    if excess <= 0:
        return ""
    return f"\n(… {excess} more characters, which are not shown: the file is too long)\n"


def _dated(line: str, at: datetime | None) -> str:
    if at and line.strip():
        return f"{line}  ← {clock.minute(at)}\n"
    return f"{line}\n"


def _entry(item: Item) -> str:
    """An entry of the history. Its lines are indented, so that none can be taken for the beginning
    of another entry.
    """
    lines = references.escape(item.content).split("\n")
    body = "\n".join(line if line.startswith(("- ", "  ")) else f"  {line}" for line in lines)
    return f"{item.cursor} {formatting.one_line(item.timestamp)}\n{body}\n"
