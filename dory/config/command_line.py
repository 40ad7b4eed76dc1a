"""Command lines that complain in one line: what is wrong, and the nearest flag that exists; and the commands that people are told to type."""

import argparse
import difflib
import errno
import os
import shlex
from pathlib import Path
from typing import NoReturn

from dory.text.prompt_files import HOUSE

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that prints no usage when a word is wrong, and takes no abbreviated flags, which would hide a misspelt one."""

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(prog=prog, description=description, epilog=epilog, allow_abbrev=False)

    def add_home(self) -> None:
        """The folder that holds all state: the flag, then ``DORY_HOME``, then where the program is."""
        text = "the folder with agents/, chats/ and blobs/ (default: the program's own, or DORY_HOME)"
        self.add_argument("--home", type=folder, default=os.environ.get("DORY_HOME") or str(HOUSE), help=text)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line and exit with 2."""
        message = "".join(c if c.isprintable() else " " for c in message)  # it quotes words that may hold line breaks
        wrong = message.removeprefix("unrecognized arguments: ").split(" ")[0].split("=")[0]
        near = difflib.get_close_matches(wrong, self._option_string_actions, n=1) if wrong.startswith("-") else []
        hint = f"did you mean {near[0]}?" if near else "--help shows the usage"
        self.exit(2, f"{self.prog}: {message} ({hint})\n")


def command(home: Path, *words: str) -> str:
    """What a person types to run a program for ``home``, which is named unless every program takes it by itself."""
    return shlex.join(["python", *words, *(["--home", str(home)] if home != HOUSE or os.environ.get("DORY_HOME") else [])])


def failure(error: Exception, home: Path) -> str:
    """What ended a program, in words; where ``home`` is no folder that can be written also the way out."""
    named = error.filename if isinstance(error, OSError) and error.errno in _NOT_WRITABLE else None
    if isinstance(error, OSError) and isinstance(named, str | bytes) and Path(os.fsdecode(named)).is_relative_to(home):
        return f"{error.strerror}: {os.fsdecode(named)}; the home must be a folder that can be written: --home or DORY_HOME names another"
    return str(error)


def folder(text: str) -> Path:
    """A folder by its whole path, or argparse's error: nobody may have the name in ``~name``."""
    try:
        return Path(text).expanduser().resolve()
    except RuntimeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
