"""What a Dream has before it, as the blocks of its prompt: the three files, what was removed from
them lately, the new history.

Of the history no stretch is passed over: an entry that is more than the prompt holds is shortened
bullet by bullet. Behind each line of a file stands when that last changed, so the model can tell
what is newer. The lines that were removed are there because history is late: a stretch may tell of
what the agent has taken out again long before the stretch faded.

What guides an agent's Dreams: ``dream.md`` in its folder, which people may write, else
``prompts/dream.md``, the same for all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice, repeat

from dory import clock
from dory.constants import MEMORY_LIMIT
from dory.errors import DoryError, FormatError
from dory.extensions.dream import edits
from dory.extensions.dream.history import Item
from dory.extensions.dream.versions import Versions
from dory.identity.identity import Identity
from dory.storage import files
from dory.text import formatting, packing, prompt_files, references
from dory.text.prompt_files import DURABLE, heading

FIRST_LIMIT = 300
"""Characters of a bullet's first line, which names its stretch, and of a line that was removed."""
LOOKED_BACK, REMOVED = 200, 50
"""Versions that are searched for lines that were removed, and how many of those are shown."""
_BULLET = re.compile(r"\n(?=- )")
_CUT = "\n  …"

Dated = tuple[str, datetime]


def fitting(items: Sequence[Item], room: int) -> list[Item]:
    """The oldest that ``room`` characters of a prompt hold, at least one; one that alone is more
    than that is shortened.
    """
    count = packing.fitting((len(item.content) for item in items), room)
    return [shortened(items[0], room)] if count == 1 else list(items[:count])


def fewer(items: Sequence[Item]) -> list[Item]:
    """The older half of them; of one alone, half of its characters; none when it cannot be
    shortened any more.
    """
    if len(items) > 1:
        return list(items[: len(items) // 2])
    shorter = shortened(items[0], len(items[0].content) // 2)
    return [shorter] if len(shorter.content) < len(items[0].content) else []


def shortened(item: Item, room: int) -> Item:
    """An entry in ``room`` characters, or what its first lines need: of each bullet stays the first
    line, and as much of the rest as is left for each. No stretch is passed over: what is cut stands
    behind the hash in its first line.
    """
    if len(item.content) <= room:
        return item
    bullets = _BULLET.split(item.content)
    firsts = [min(len(bullet.partition("\n")[0]), FIRST_LIMIT) for bullet in bullets]
    left, sizes = room - sum(firsts) - len(bullets) * len(f"{_CUT}\n"), list(firsts)
    by_size = sorted(range(len(bullets)), key=lambda at: len(bullets[at]) - firsts[at])
    for place, at in enumerate(by_size):  # what a short one does not need the longer ones have
        share = min(len(bullets[at]) - firsts[at], max(0, left) // (len(bullets) - place))
        sizes[at] += share
        left -= share
    kept = [
        bullet if size == len(bullet) else f"{bullet[:size].rstrip(_CUT)}{_CUT}"
        for bullet, size in zip(bullets, sizes, strict=True)
    ]
    return replace(item, content="\n".join(kept))


def shown(text: str) -> str:
    """A file, of one that a person has made too long the beginning alone."""
    return f"{text[:MEMORY_LIMIT]}{_rest(text)}"


def removed(versions: Versions) -> list[Dated]:
    """The lines that lately were removed from a file or replaced there, and stand in it no more,
    behind its name, the newest first. In another one they may stand: there they were moved. Raises
    ``VersionError``.
    """
    found: dict[str, datetime] = {}
    standing: set[str] | None = None
    for version in islice(versions.log(), LOOKED_BACK):
        after, before = (_named(versions.contents(sha)) for sha in (version.sha, version.before))
        standing = after if standing is None else standing
        for line in sorted(before - after - standing):
            found.setdefault(line, version.at)
    return list(islice(found.items(), REMOVED))


def laid_out(
    texts: Mapping[str, str],
    ages: Mapping[str, Sequence[datetime]],
    gone: Sequence[Dated],
    items: Sequence[Item],
) -> str:
    """All the blocks, each under its header; what stands in them is escaped."""
    blocks = [_file(name, texts.get(name, ""), ages.get(name, ())) for name in DURABLE]
    if gone:
        blocks += [
            "[#removed]\n",
            *(
                _dated(references.escape(formatting.one_line(line, FIRST_LIMIT)), at)
                for line, at in gone
            ),
        ]
    return "".join([*blocks, "[#history]\n", *map(_entry, items)])


def _named(texts: Mapping[str, str]) -> set[str]:
    """The lines of texts, each behind the name of its file."""
    return {f"{name}: {line}" for name, text in texts.items() for line in edits.lines(text)}


def _file(name: str, text: str, ages: Sequence[datetime]) -> str:
    """A file, with the times as far as they are known."""
    beginning = references.escape(edits.plain(text[:MEMORY_LIMIT]))
    lines = beginning.removesuffix("\n").split("\n") if beginning else []
    known = len(ages) == text.removesuffix("\n").count("\n") + 1
    times: Iterator[datetime | None] = iter(ages if known else repeat(None))
    dated = "".join(_dated(line, at) for line, at in zip(lines, times, strict=False))
    return f"[#{heading(name, text)}]\n{dated}{_rest(text).lstrip()}"


def _rest(text: str) -> str:
    """A line that says how much of a file is not shown."""
    over = len(text) - MEMORY_LIMIT
    return (
        f"\n(… {over} more characters, which are not shown: the file is too long)\n"
        if over > 0
        else ""
    )


def _dated(line: str, at: datetime | None) -> str:
    return f"{line}  ← {clock.minute(at)}\n" if at and line.strip() else f"{line}\n"


def _entry(item: Item) -> str:
    """One entry, none of whose lines can be taken for the beginning of another one."""
    lines = references.escape(item.content).split("\n")
    body = "\n".join(line if line.startswith(("- ", "  ")) else f"  {line}" for line in lines)
    return f"{item.cursor} {formatting.one_line(item.timestamp)}\n{body}\n"


NAME = "dream.md"
LIMIT = 16_000
"""Bytes of a guide of the agent's own: it stands in every request of a Dream."""


class Guide:
    """The guide of one identity."""

    def __init__(self, me: Identity) -> None:
        self._me = me
        self._own = me.folder / NAME

    def text(self) -> str:
        """The guide, without secrets. Raises ``FormatError`` when it is too long or cannot be read."""
        if not self._own.exists():
            return prompt_files.prompt("dream")
        try:
            content = files.read_from(self._own, 0, LIMIT + 1)
        except OSError as error:
            raise FormatError(
                f"{NAME} cannot be read ({error.strerror}): put a text file in its place, or remove it"
            ) from error
        if len(content) > LIMIT:
            raise FormatError(
                f"{NAME} may have {LIMIT} bytes: shorten it, or remove it to go back to prompts/{NAME}"
            )
        return self._me.redact(content.decode("utf-8", "replace"))

    def command(self, argument: str) -> str:
        """The guide and where it stands, or the beginning of one of its own. Raises ``DoryError``
        when it has one already.
        """
        where = f"agents/{self._me.hash}/{NAME}"
        if argument.strip() not in ("", "init"):
            raise DoryError(
                "write /dream-prompt to see how Dreams are guided, /dream-prompt init to make a guide of the agent's own"
            )
        if not argument.strip():
            return f"{where if self._own.exists() else f'prompts/{NAME}, for all; /dream-prompt init makes one of its own'}:\n\n{self.text()}"
        if self._own.exists():
            raise DoryError(
                f"{where} is there already: edit it, or remove it to go back to prompts/{NAME}"
            )
        files.replace(self._own, f"{prompt_files.prompt('dream')}\n".encode())
        return f"{where} guides the next Dream: edit it as you like; remove it to go back to prompts/{NAME}"
