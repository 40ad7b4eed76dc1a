"""Checks that this Python has the dependencies that pyproject.toml names, before any of them is
imported. So nobody sees a traceback, or an agent of which a part fails. Imports nothing else.
"""

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
    """End the process with one line and exit code 2 unless all of them are installed."""
    missing = [name for name in NAMES if not PathFinder.find_spec(name)]
    if missing:
        sys.stderr.write(
            f"this Python has no {', '.join(missing)}: "
            "use .venv/bin/python, which `make run` sets up\n"
        )
        sys.exit(2)
