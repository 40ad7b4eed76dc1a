"""Changes that other programs made to the files of an identity: found, repaired where that is safe,
and always reported.

A damaged file that only Dory writes (state, context, blobs) is not repaired but refused: its
content cannot be guessed. Texts that people edit are taken as they are.
"""

from collections.abc import Iterator

from dory.identity.identity import Identity
from dory.storage import files
from dory.storage.rooms import is_id
from dory.storage.watched_files import Worktree
from dory.text import formatting
from dory.text.prompt_files import DURABLE, MEMORY, SEGMENT, SUMMARISE, as_text


def repair(identity: Identity) -> Iterator[str]:
    """Repair the texts, and return one line for each problem. Called at the start and before each
    turn. Raises ``VersionError`` if somebody is just saving one of them.
    """
    while identity.damage:
        yield identity.damage.pop(0)
    texts = Worktree(identity.folder)
    if not (identity.folder / MEMORY).exists():
        texts.write(MEMORY, b"", b"")
        identity.repaired.append(MEMORY)
        yield f"{MEMORY} was gone: it begins empty"
    for name in (*DURABLE, SEGMENT, SUMMARISE):
        path = identity.folder / name
        content = files.read_from(path, 0)
        text = as_text(content).encode()
        if text != content:
            files.append(path.with_name(f"{name}.damaged"), content + b"\n")
            texts.write(name, content, text)
            identity.repaired.append(name)
            yield (
                f"{name} held bytes that are no text: they are shown as � now, and the file as it"
                f" was is {name}.damaged"
            )


def strange_links(identity: Identity) -> Iterator[str]:
    """Return one line for each file in ``subs/`` that is no subscription."""
    for link in sorted((identity.folder / "subs").iterdir()):
        if not link.is_symlink() or link.suffix != ".md" or not is_id(link.stem):
            name = formatting.one_line(link.name)
            yield (
                f"subs/{name} is no subscription and is not followed: it must be a symlink named"
                " after a room, such as dev.md"
            )
