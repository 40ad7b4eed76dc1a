"""Command lines, by ``click``: one line for an error, ``--home``, and types of arguments.

A program is one function with ``click`` options above it, made by ``@program``. Calling it reads
the command line and returns what the function returns. ``--help`` ends the process with 0, a wrong
command line with 2 after one line. Nothing else heavy is imported here, so ``--help`` is fast.
"""

import getpass
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from dory.storage import privacy
from dory.text import typed_commands
from dory.text.characters import visible
from dory.text.prompt_files import INSTALLED

_USUAL_HOME = "the user's data folder" if INSTALLED else "the program's own"


class OneLineErrors(click.Command):
    """Prints one line for a wrong command line, where ``click`` prints three."""

    @property
    def shown_name(self) -> str:
        """The name that the person typed: ``agent.py``, or ``dory agent``."""
        return typed_commands.started_as or self.name or ""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Read ``args`` (default: those of this process), run, and return what the function
        returns.
        """
        self._complete()
        arguments = list(sys.argv[1:] if args is None else args)
        try:
            with self.make_context(self.shown_name, arguments) as context:
                return self.invoke(context)
        except click.exceptions.Exit as ended:
            sys.exit(ended.exit_code)
        except click.ClickException as error:
            self._fail(error)

    def _fail(self, error: click.ClickException) -> NoReturn:
        message = error.format_message()
        if "Did you mean" not in message:
            message += " (--help shows the usage)"
        # the message quotes words that may hold line breaks
        line = visible(" ".join(message.split()))
        click.echo(f"{self.shown_name}: {line}", err=True)
        sys.exit(2)

    def _complete(self) -> None:
        """Answer a shell that asks for completions, and exit."""
        variable = f"_{self.shown_name}_COMPLETE".replace(".", "_").replace(" ", "_").upper()
        if instruction := os.environ.get(variable):
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, {}, self.shown_name, variable, instruction))


class Program(OneLineErrors):
    """A command that is a program of its own. ``name`` is what its errors begin with."""


class ProgramGroup(OneLineErrors, click.Group):
    """A command that has others below it."""


def program(name: str, description: str, **more: Any) -> Callable[[Callable[..., Any]], Program]:
    """Make a function with ``click`` options a program. ``more`` goes to ``click``; ``cls`` may be
    a subclass of ``Program``.
    """
    settings = {"cls": Program, "help": description, **more}
    decorated: Callable[[Callable[..., Any]], Program] = click.command(name, **settings)
    return decorated


def folder(text: str | Path) -> Path:
    """The folder's absolute path. Raises ``click.BadParameter`` if ``~name`` names nobody, or the
    path begins in a folder that is gone.
    """
    try:
        return Path(text).expanduser().resolve()
    except RuntimeError as error:
        raise click.BadParameter(str(error)) from None
    except FileNotFoundError:
        raise click.BadParameter(
            f"the current folder does not exist any more: cd to another, or give the whole path of"
            f" {str(text)!r}"
        ) from None


def positive_seconds(text: str | float) -> float:
    """A number of seconds above zero. Raises ``click.BadParameter``."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise click.BadParameter(f"{text!r} is no number of seconds above 0")
    return number


def _private(_: click.Context, __: click.Parameter, home: Path) -> Path:
    """Nothing that the program makes in this home is for strangers."""
    privacy.keep(home)
    return home


home_option = click.option(
    "--home",
    type=folder,
    callback=_private,
    metavar="FOLDER",
    default=lambda: os.environ.get("DORY_HOME") or typed_commands.default_home(),
    help=f"the folder with agents/, chats/ and blobs/ (default: {_USUAL_HOME}, or DORY_HOME)",
)
"""The option that every program has."""


def login_name() -> str:
    """The login name; empty where the system knows none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
