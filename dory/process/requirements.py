"""What a program needs before it imports anything: that its standard streams are open and take any
character, and that this Python has the dependencies that pyproject.toml names. So nobody sees a
traceback, or an agent of which a part fails. Imports nothing else.
"""

import os
import sys
from importlib.machinery import PathFinder

NAMES = (
    "openai",
    "httpx2",
    "yaml",
    "click",
    "platformdirs",
    "prompt_toolkit",
    "rich",
    "markdown_it",
    "cronsim",
    "numpy",
    "dulwich",
)
"""The packages, by the names with which they are imported."""


def check() -> None:
    """Open the streams that whoever started this process has closed, and end it with one line and
    exit code 2 unless all packages are installed.
    """
    _open_streams()
    missing = [name for name in NAMES if not PathFinder.find_spec(name)]
    if missing:
        sys.stderr.write(
            f"this Python has no {', '.join(missing)}: "
            "use .venv/bin/python, which `make run` sets up\n"
        )
        sys.exit(2)


def _open_streams() -> None:
    """Let a closed stream lead nowhere. Otherwise the next file that is opened takes its number,
    and what is printed goes into it. What a stream cannot hold is replaced; on stderr Python
    escapes it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
        if name != "stderr":
            # bytes that are no text come in, and an ASCII terminal cannot show every character
            getattr(sys, name).reconfigure(errors="replace")
