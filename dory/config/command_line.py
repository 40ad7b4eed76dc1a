"""What the programs share on the command line, without its library: where state lives, which
commands people are told to type, and how a failure is put into words.

In a checkout people type ``python agent.py`` and state lives beside the program. Where Dory is
installed as a package they type ``dory agent``, and state lives in the user's data folder.
``--home`` and, after it, ``DORY_HOME`` win in both cases.
"""

import errno
import os
import shlex
from pathlib import Path

from dory.text.prompt_files import INSTALLED, ROOT, invocation

started_as = ""
"""The program as the command ``dory`` started it, such as ``dory agent``; empty if Python did."""

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


def default_home() -> Path:
    """The folder that holds all state when neither ``--home`` nor ``DORY_HOME`` names one."""
    if not INSTALLED:
        return ROOT
    import platformdirs  # only an installed program needs it

    return Path(platformdirs.user_data_dir("dory"))


def program(name: str) -> str:
    """What a person types to start ``agent.py``, ``chat.py`` or ``clean.py``."""
    return invocation(name) if INSTALLED else f"python {name}"


def command(home: Path, name: str, *arguments: str) -> str:
    """What a person types to run the program ``name`` for ``home``. The home is part of it unless
    every program takes that one by itself.
    """
    words = [program(name)]
    if arguments:
        words.append(shlex.join(arguments))
    if os.environ.get("DORY_HOME") or home != default_home():
        words.append(shlex.join(["--home", str(home)]))
    return " ".join(words)


def failure(error: Exception, home: Path) -> str:
    """The error in words. If ``home`` is not a folder that can be written, the way out is added."""
    if not isinstance(error, OSError) or error.errno not in _NOT_WRITABLE:
        return str(error)
    if not isinstance(error.filename, str | bytes):
        return str(error)
    path = os.fsdecode(error.filename)
    if not Path(path).is_relative_to(home):
        return str(error)
    return (
        f"{error.strerror}: {path}; the home must be a folder that can be written: "
        "--home or DORY_HOME names another"
    )
