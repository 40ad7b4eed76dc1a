"""Command lines that complain in one line: what is wrong, and the nearest flag that exists; and the
commands that people are told to type.

The command line of ``agent.py``: its flags, which are the settings. Imports little, so that
``--help`` comes at once.
"""

import argparse
import difflib
import errno
import os
import shlex
from dataclasses import fields
from pathlib import Path
from typing import NoReturn

from dory.text.prompt_files import ROOT

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that prints no usage when a word is wrong, and takes no abbreviated
    flags, which would hide a misspelt one.
    """

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(prog=prog, description=description, epilog=epilog, allow_abbrev=False)

    def add_home(self) -> None:
        """The folder that holds all state: the flag, then ``DORY_HOME``, then where the program is."""
        text = (
            "the folder with agents/, chats/ and blobs/ (default: the program's own, or DORY_HOME)"
        )
        self.add_argument(
            "--home", type=folder, default=os.environ.get("DORY_HOME") or str(ROOT), help=text
        )

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line and exit with 2."""
        message = "".join(
            c if c.isprintable() else " " for c in message
        )  # it quotes words that may hold line breaks
        wrong = message.removeprefix("unrecognized arguments: ").split(" ")[0].split("=")[0]
        near = (
            difflib.get_close_matches(wrong, self._option_string_actions, n=1)
            if wrong.startswith("-")
            else []
        )
        hint = f"did you mean {near[0]}?" if near else "--help shows the usage"
        self.exit(2, f"{self.prog}: {message} ({hint})\n")


def command(home: Path, *words: str) -> str:
    """What a person types to run a program for ``home``, which is named unless every program takes
    it by itself.
    """
    return shlex.join(
        [
            "python",
            *words,
            *(["--home", str(home)] if home != ROOT or os.environ.get("DORY_HOME") else []),
        ]
    )


def failure(error: Exception, home: Path) -> str:
    """What ended a program, in words; where ``home`` is no folder that can be written also the way
    out.
    """
    named = error.filename if isinstance(error, OSError) and error.errno in _NOT_WRITABLE else None
    if (
        isinstance(error, OSError)
        and isinstance(named, str | bytes)
        and Path(os.fsdecode(named)).is_relative_to(home)
    ):
        return f"{error.strerror}: {os.fsdecode(named)}; the home must be a folder that can be written: --home or DORY_HOME names another"
    return str(error)


def folder(text: str) -> Path:
    """A folder by its whole path, or argparse's error: nobody may have the name in ``~name``."""
    try:
        return Path(text).expanduser().resolve()
    except RuntimeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


from dory.config.settings import Config


def parser() -> argparse.ArgumentParser:
    """One flag per setting, so that a setting is described in one place."""
    made = Parser(
        prog="agent.py", description="Boot an agent, or resume one. Talk to it with chat.py."
    )
    made.add_argument(
        "identity",
        nargs="?",
        metavar="HASH",
        help="resume this identity; 4 or more digits of it will do",
    )
    made.add_home()
    made.add_argument(
        "--verbose", action="store_true", help="print what happens, and what each model call cost"
    )
    made.add_argument(
        "--detach",
        action="store_true",
        help="live in the background; closing the terminal does not end it",
    )
    made.add_argument(
        "--stop", action="store_true", help="end the agent HASH, wherever it runs, after its step"
    )
    made.add_argument(
        "--usage",
        action="store_true",
        help="show what the model calls of HASH cost, by day and purpose, and end",
    )
    made.add_argument("--list", action="store_true", help="show every identity and end")
    made.add_argument(
        "--settings", action="store_true", help="show every setting with its value here and end"
    )
    group = made.add_argument_group("settings (also in dory.yaml and as DORY_… in the environment)")
    for one in fields(Config):
        kind = (
            float
            if one.default is None
            else type(one.default)
            if type(one.default) in (int, float)
            else str
        )
        flag = f"--{one.name.replace('_', '-')}"
        group.add_argument(
            flag,
            type=kind,
            default=None,
            metavar=kind.__name__.upper(),
            help=one.metadata["meaning"].replace("%", "%%"),
        )
    return made
