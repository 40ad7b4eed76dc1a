"""Commands as a person types them, whole and quoted, for messages that tell what to do.

In a checkout people type ``python agent.py`` and state lives beside the program. Where Dory is
installed as a package they type ``dory agent``, and state lives in the user's data folder.
``--home`` and, after it, ``DORY_HOME`` win in both cases.
"""

import os
import shlex
import sys
from pathlib import Path

from dory.text.prompt_files import INSTALLED, ROOT

started_as = ""
"""The program as the command ``dory`` started it, such as ``dory agent``; empty if Python did."""


def default_home() -> Path:
    """The folder that holds all state when neither ``--home`` nor ``DORY_HOME`` names one."""
    if not INSTALLED:
        return ROOT
    import platformdirs  # only an installed program needs it

    return Path(platformdirs.user_data_dir("dory"))


def program(name: str) -> str:
    """What a person types to start ``agent.py``, or a program that is a module, such as
    ``recall``.
    """
    if INSTALLED or started_as:
        return f"dory {name.removesuffix('.py')}"
    return f"python {name}" if name.endswith(".py") else f"python -m dory.{name}"


def command(home: Path, name: str, *arguments: str) -> str:
    """What a person types to run the program ``name`` for ``home``. The home is part of it unless
    every program takes that one by itself.
    """
    return _line(program(name), home, arguments)


def again(home: Path, name: str, *arguments: str) -> str:
    """The same for the program that runs now, which is named as it was started: by another Python,
    or from another folder.
    """
    return _line(_as_started(name) or program(name), home, arguments)


def elsewhere() -> str:
    """The command that started this process, for a home in another folder."""
    name = Path(sys.argv[0]).name
    words = iter(sys.argv[1:])
    kept = []
    for word in words:
        if word == "--home":
            next(words, "")
        elif not word.startswith("--home="):
            kept.append(word)
    start = _as_started(name) or started_as or program(name)
    return " ".join([start, "--home ~/dory", *map(shlex.quote, kept)])


def _line(start: str, home: Path, arguments: tuple[str, ...]) -> str:
    words = list(arguments)
    if os.environ.get("DORY_HOME") or home != default_home():
        words += ["--home", str(home)]
    return " ".join([start, *map(shlex.quote, words)])


def _as_started(name: str) -> str:
    """How Python was told to run the program ``name``; empty if it runs another, or if ``dory``
    does.
    """
    runs = Path(sys.argv[0]).stem == Path(name).stem
    if not runs or INSTALLED or started_as:
        return ""
    return shlex.join(sys.orig_argv[: len(sys.orig_argv) - len(sys.argv[1:])])
