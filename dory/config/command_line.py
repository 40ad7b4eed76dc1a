"""What the programs share on the command line, without its library: how a failure is put into
words, and how secrets are taken off a command line.

Everybody on a machine can read the command line of every process. So flags that may hold a key or a
password are handed to a process in its environment, which only its user can read.
"""

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from dory.text import typed_commands

_HIDDEN = ("--api-key", "--base-url", "--profiles")
_TELLING = re.compile(r"[@?]|key", re.IGNORECASE)
"""What stands in an address or in profiles that hold a key or a password."""
_HANDED = "_DORY_FLAGS"

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


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
        f"{error.strerror}: {path}; the home must be a folder that can be written: give another,"
        f" such as with {typed_commands.elsewhere()}"
    )


def concealed(
    arguments: Sequence[str], hides: Callable[[str], bool] = lambda argument: True
) -> tuple[list[str], dict[str, str]]:
    """The arguments of ``agent.py`` without the flags that may hold a secret, and the variables of
    the environment that hold these instead. ``hides`` says of such a flag with its value whether it
    does.
    """
    shown: list[str] = []
    hidden: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        if flag not in _HIDDEN or not (equals or rest):
            shown.append(word)
            continue
        words = [word] if equals else [word, rest.pop(0)]
        if hides("=".join(words)):
            hidden[flag.removeprefix("--").replace("-", "_")] = value if equals else words[1]
        else:
            shown += words
    return shown, {_HANDED: json.dumps(hidden)} if hidden else {}


def telling(flag: str) -> bool:
    """Whether a flag of ``_HIDDEN``, with its value, may hold a key or a password."""
    return bool(_TELLING.search(flag))


def handed() -> dict[str, str]:
    """The flags that ``concealed`` has put into the environment of this process, by setting. They
    are taken out of it.
    """
    flags: dict[str, str] = json.loads(os.environ.pop(_HANDED, "{}"))
    return flags


def conceal(behind: str = "") -> None:
    """Let this process go on without the secrets on its command line: the same program takes its
    place, and gets them in the environment. Where ``behind`` names a word, the arguments of
    ``agent.py`` are those behind it.
    """
    arguments = sys.argv[1:]
    start = 0
    if behind:
        start = arguments.index(behind) + 1 if behind in arguments else len(arguments)
    shown, variables = concealed(arguments[start:], telling)
    program = sys.orig_argv[: len(sys.orig_argv) - len(arguments)]
    if variables and [*program, *arguments] == sys.orig_argv:
        os.execve(sys.executable, [*program, *arguments[:start], *shown], os.environ | variables)
