"""Shared by the tests of versions: texts beside the real git, and a household whose texts have
versions.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from dory.extensions.dream.versions import Versions
from dory.extensions.dream.versions_extension import VersionExtension
from dory.extensions.durable_texts import TextExtension
from dory.text.prompt_files import USER, VOICE
from dory.turn.extension_host import ExtensionHost
from tests.support.household import Household, Time
from tests.support.processes import PATIENCE

HOSTILE = """
[user]
    name = Mallory
    email = m@example.org
[commit]
    gpgsign = true
[core]
    autocrlf = true
    hooksPath = /hooks
[init]
    defaultBranch = other
"""


class Texts:
    """A folder with texts and their versions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "agent"
        self.clock = Time()
        self.folder.mkdir()
        self.write("MEMORY.md", "")
        self.settings = folder / "gitconfig"
        self.settings.write_text(HOSTILE)
        self.open()

    def open(self) -> list[str]:
        self.versions = Versions(
            self.folder, self.clock, lambda text: text.replace("hunter2", "[secret]")
        )
        return self.versions.open()

    def write(self, name: str, content: str | bytes) -> None:
        (self.folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    def git(self, *command: str) -> str:
        """What the real git says, for a user with settings of their own."""
        own = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": str(self.settings),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C",
        }
        ended = subprocess.run(
            ["git", *command], cwd=self.folder, env=own, capture_output=True, timeout=PATIENCE
        )
        assert ended.returncode == 0 and not ended.stderr, ended.stderr
        return ended.stdout.decode("utf-8", "replace")

    def subjects(self) -> list[str]:
        return [version.subject for version in self.versions.log()]


def edit(name: str, search: str, replacement: str) -> str:
    return (
        f"EDIT_FILE {name}\n<<<<<<< SEARCH\n{search}{chr(10) if search else ''}=======\n"
        f"{replacement}\n>>>>>>> REPLACE\n"
    )


class Versioned(Household):
    """A household whose texts have versions, as an agent's loop would have it."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.wake()

    def wake(self) -> "Versioned":
        """As the next process would, up to its first look."""
        self.restart()
        self.told: list[str] = []
        self.versions = Versions(self.me.folder, self.me.now, self.me.redact)
        self.extension = VersionExtension(self.me, self.versions, self.told.append)
        self.extensions = ExtensionHost(
            [self.extension, TextExtension(self.me, USER), TextExtension(self.me, VOICE)],
            self.told.append,
        )
        self.me.listeners.append(self.extensions.on_event)
        self.extensions.step()
        return self

    def write(self, name: str, text: str) -> None:
        """A person's editor."""
        (self.me.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.me.folder / name).read_text()

    def log(self) -> list[tuple[str, str]]:
        """Who changed what, the newest first, without the beginning."""
        return [(version.author.name, version.subject) for version in self.versions.log()][:-1]

    def sha(self, number: int) -> str:
        """The name of a version, the newest first."""
        return list(self.versions.log())[number].sha[:8]


@contextmanager
def meanwhile(function: str, times: int, act: Callable[[], object]) -> Iterator[None]:
    """Somebody acts as a function of that name is entered, so many times."""
    left = times

    def announced(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        if event == "call" and left and frame.f_code.co_qualname == function:
            left -= 1
            act()

    before = sys.getprofile()
    sys.setprofile(announced)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert not left
