"""What all measurements share as programs: ``--json``, numbers on the command line, and how they
end.
"""

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from dory.config.options import Program, program
from dory.errors import ConfigError, DoryError

_JSON_HELP = "print the figures as one JSON object on the last line"


def measurement(name: str, description: str) -> Callable[[Callable[..., Any]], Program]:
    """Make a function a program, ``python -m <name>``. It gets ``--json`` as ``print_json``."""

    def decorate(function: Callable[..., Any]) -> Program:
        with_json = click.option("--json", "print_json", is_flag=True, help=_JSON_HELP)(function)
        return program(f"python -m {name}", description)(with_json)

    return decorate


def whole(least: int, most: int = 10**9) -> Callable[[str | int], int]:
    """A type for the command line: a number from ``least`` to ``most``."""

    def number(value: str | int) -> int:
        text = str(value)
        if not text.isdecimal() or not least <= int(text[:20]) <= most:
            raise click.BadParameter(f"{text!r} is no number from {least} to {most}")
        return int(text)

    return number


def rising(least: int) -> Callable[[str], list[int]]:
    """A type for the command line: numbers with commas between them, each at least ``least``. They
    come back in rising order, each once.
    """
    number = whole(least)

    def numbers(text: str) -> list[int]:
        return sorted({number(part) for part in text.split(",")})

    return numbers


def run(name: str, main: Callable[[], int]) -> NoReturn:
    """Exit with the code of ``main``; with 130 after Ctrl-C or SIGTERM, after which ``finally``
    blocks still run; with 1 after one line about a failure; with 2 after one line about a setting.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (DoryError, OSError, subprocess.CalledProcessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigError) else 1)
