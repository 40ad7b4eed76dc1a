"""What all measurements have in common as programs: ``--json``, numbers on the command line, and
how they end.
"""

import signal
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import NoReturn

from dory.config.command_line import Parser
from dory.errors import ConfigError, DoryError


def options(name: str, description: str) -> Parser:
    """The command line of ``python -m <name>``."""
    made = Parser(prog=f"python -m {name}", description=description)
    made.add_argument(
        "--json", action="store_true", help="print the figures as one JSON object on the last line"
    )
    return made


def whole(least: int, most: int = 10**9) -> Callable[[str], int]:
    """For the command line: a number from ``least`` to ``most``."""

    def number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text[:20]) <= most:
            raise ArgumentTypeError(f"{text!r} is no number from {least} to {most}")
        return int(text)

    return number


def rising(least: int) -> Callable[[str], list[int]]:
    """For the command line: numbers with commas between them, each at least ``least``; they come
    back in their order, each once.
    """
    return lambda text: sorted(set(map(whole(least), text.split(","))))


def run(name: str, main: Callable[[], int]) -> NoReturn:
    """Exit with the code of ``main``; with 130 after Ctrl-C or SIGTERM, which leave in the same
    good order, with 1 after one line that tells of a failure, with 2 after one that tells of a
    setting.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (DoryError, OSError, subprocess.CalledProcessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigError) else 1)
