"""Whether this Python has what requirements.txt names. Asked before anything of it is imported, so
that nobody meets a traceback, nor an agent half of which fails.
"""

import sys
from importlib.machinery import PathFinder

NAMES = (
    "openai",
    "httpx2",
    "yaml",
    "prompt_toolkit",
    "rich",
    "markdown_it",
    "cronsim",
    "numpy",
    "dulwich",
)
"""As they are imported."""


def check() -> None:
    """End the process with one line and exit code 2 unless all of them are there."""
    missing = [name for name in NAMES if not PathFinder.find_spec(name)]
    if missing:
        sys.stderr.write(
            f"this Python has no {', '.join(missing)}: use .venv/bin/python, which `make run` sets up\n"
        )
        sys.exit(2)
