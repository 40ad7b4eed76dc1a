"""Homes whose files are none: pipes that nobody writes into, and devices without an end. Somebody
who was given such a home can list and check it, and an agent in it refuses to start or says so.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from stress.attack.attack import Attack
from stress.attack.ground import Ground

_SECONDS = 15.0
"""Seconds in which a program must end or wake that takes two."""
_MEMORY = 2_000_000_000
_AGENTS = (
    *("LIFE.md", "context.md", "state.json", "settings.yaml", "history.jsonl", "usage.jsonl"),
    *("MEMORY.md", "soul.json", "memory.sqlite", "lock", ".cursor", "notes/tea.md"),
)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def trapped(lay: Callable[[Path], None], ground: Ground) -> Iterator[str]:
    """One file of a home after the other is such a trap."""
    agent = ground.agent()
    ground.model.orders.append(
        "NOTE_ADD tea Ada likes tea\nADD_TO_SOUL I like tea\nWRITE_DIARY tea"
    )
    yield from ground.unanswered("before the attack")
    yield from ground.unstopped(agent, "before the attack")
    whole = ground.place / "whole"
    shutil.copytree(ground.home, whole, symlinks=True)
    for name in _AGENTS:
        shutil.rmtree(ground.home)
        shutil.copytree(whole, ground.home, symlinks=True)
        path = ground.folder / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        lay(path)
        yield from _met(ground, ground.folder.name, name)


def _met(ground: Ground, identity: str, name: str) -> Iterator[str]:
    """Let the programs meet the trap ``name``."""
    limited = ("prlimit", f"--as={_MEMORY}") if shutil.which("prlimit") else ()
    for arguments in (["clean.py", "--check"], ["agent.py", "--list"]):
        program = ground.program(*arguments, under=limited)
        if program.ended(_SECONDS) is None:
            yield f"{' '.join(arguments)} hangs at {name}"
            program.kill()
    agent = ground.program("agent.py", identity, *ground.endpoint, under=limited)
    if not ground.until(lambda: "is awake" in agent.words or not agent.lives, _SECONDS):
        yield f"an agent hangs at {name} when it starts"
    elif agent.lives:
        ground.say("/status")
        ground.until(lambda: False, 1)
        yield from ground.unstopped(agent, f"with {name}")
    agent.kill()


_TOLD = "no program hangs, and an agent refuses or lives"

ATTACKS = (
    Attack("pipes in a home", _TOLD, partial(trapped, _pipe), spoils=True),
    Attack("devices in a home", _TOLD, partial(trapped, _device), spoils=True),
)
