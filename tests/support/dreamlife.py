"""The versions of the durable texts of a life, read with the real git."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Commit:
    """Who, the message, and the lines that were taken away and added."""

    author: str
    message: str
    lost: tuple[str, ...]
    won: tuple[str, ...]


def git(folder: Path, *arguments: str) -> str:
    """What git says of the repository in a folder."""
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commits(folder: Path) -> Iterator[Commit]:
    """Every one, the oldest first."""
    for part in git(folder, "log", "--reverse", "-p", "-U0", "--format=%x1e%an%x1f%B%x1f").split(
        "\x1e"
    )[1:]:
        author, message, diff = part.split("\x1f")
        changed = [
            line
            for line in diff.splitlines()
            if line[:1] in ("+", "-") and not line.startswith(("+++", "---"))
        ]
        yield Commit(
            author,
            message,
            *(tuple(line[1:] for line in changed if line[0] == sign) for sign in "-+"),
        )
