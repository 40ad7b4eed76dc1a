"""Talk to Dory in a room: in a terminal as a person, through a pipe as a script. ``python chat.py
--help`` tells how.
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C while the rest is imported ends the process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import os
import sys
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dory.config.command_line import conceal, failure, handed
from dory.config.options import Program, home_option, login_name, positive_seconds, program
from dory.errors import DoryError, ToolError, Unanswered
from dory.text.characters import visible
from dory.text.prompt_files import ROOT

if TYPE_CHECKING:
    from dory.chat.session import Session

UNANSWERED = 3
"""The exit code if all agents have read a piped line and sleep without an answer to it."""


class ChatProgram(Program):
    """Hands what follows ``--`` to the agent that ``--boot`` starts."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the chat's own arguments, and keep the agent's as the object of the context."""
        end = args.index("--") if "--" in args else len(args)
        hidden = [f"--{name.replace('_', '-')}={value}" for name, value in handed().items()]
        ctx.obj = [*hidden, *args[end + 1 :]]
        rest = super().parse_args(ctx, args[:end])
        if ctx.obj and not ctx.params["boot"]:
            raise click.UsageError("what follows -- is for an agent: it needs --boot", ctx)
        return rest


def room_id(text: str) -> str:
    """A legal room id. Raises ``click.BadParameter``."""
    from dory.storage.rooms import check_id

    try:
        return check_id(text)
    except ToolError as error:
        raise click.BadParameter(str(error)) from None


def commands() -> Collection[str]:
    """What the harness answers. Imported when it is first asked for: that takes a moment."""
    from dory.extensions import commands as declared

    slashed = [f"/{command.name}" for command in declared()]
    called = [f"@{command.name}" for command in declared() if command.called]
    return [*slashed, *called]


def entered(home: Path, room: str, name: str) -> "Session":
    """One person in one room. A home that other users can read is closed first, and that is said.
    Raises ``ToolError``.
    """
    from dory.chat.session import Session
    from dory.identity import home as homes
    from dory.storage import privacy

    if line := privacy.tighten(home, homes.present(home)):
        complain(line)
    return Session(home, room, name, commands, complain)


@program(
    "chat.py",
    "Talk to Dory in the room ROOM (default: dev).",
    cls=ChatProgram,
    options_metavar="[OPTIONS]",
    epilog="What follows -- is handed to the agent that --boot starts.",
)
@click.argument("room", type=room_id, default="dev")
@click.option(
    "--boot", is_flag=True, help="start an agent if none listens; the last one who leaves stops it"
)
@click.option(
    "--name",
    default=login_name,
    metavar="NAME",
    help="who is speaking (default: the login name)",
)
@click.option(
    "--wait",
    type=positive_seconds,
    default=60.0,
    metavar="SECONDS",
    help="how long a piped line waits for its answer (default: 60); exit code 1: none in time, 3:"
    " all agents have read it and sleep",
)
@home_option
@click.pass_obj
def main(flags: Sequence[str], room: str, boot: bool, name: str, wait: float, home: Path) -> int:
    """Run the chat; 0 if all went well, 1 if nobody answers in time or listens, 2 if the command
    line is wrong or the name is an agent's, 3 if all agents sleep without an answer, 128 and more
    after a signal.
    """
    from dory.chat import pipe  # here, so that --help and a wrong flag do not wait for them
    from dory.chat.keeper import listening_agent, visiting
    from dory.chat.signals import Signals

    signals = Signals()
    # asked now, because a terminal that is closed later is none any more
    by_person = sys.stdin.isatty() and sys.stdout.isatty()
    try:
        session = entered(home, room, name)
        with ExitStack() as stack:
            if boot:
                if by_person:
                    make_ready(session, flags)
                agent = listening_agent(session, ROOT / "agent.py", flags, complain, signals)
                stack.enter_context(agent)
            elif by_person or session.listeners():
                stack.enter_context(visiting(session))
            if by_person:
                from dory.chat import screen

                screen.run(session, signals)
            else:
                with signals.obeyed_at_once():
                    pipe.run(session, sys.stdin, wait)
            signals.obey()
    except BrokenPipeError:  # nobody reads the answers any more, so nobody misses them
        return 1
    except (DoryError, OSError) as error:
        complain(f"{main.shown_name}: {failure(error, home)}")
        return exit_code(error)
    finally:
        hush()
    return 0


def make_ready(session: "Session", flags: Sequence[str]) -> None:
    """Ask the person here what the agent, which is started in the background, could not ask, and
    load the screen while it starts. Raises ``DoryError`` if they do not agree.
    """
    from dory.cli import consent
    from dory.process.jobs import Job

    if consent.may_be_asked(session.home, flags) and not session.listeners():
        from dory.cli.waking import agreed_in_chat  # takes long, and is seldom needed

        agreed_in_chat(session.home, session.room, flags)
    Job(lambda: import_module("dory.chat.screen"), "imports")


def exit_code(error: Exception) -> int:
    """The exit code after a failure; a ``ToolError`` is about what was typed."""
    if isinstance(error, Unanswered):
        return UNANSWERED
    return 2 if isinstance(error, ToolError) else 1


def complain(text: str) -> None:
    """Print a line for the person, beside what the room says. A closed terminal is no error."""
    with suppress(OSError):
        print(visible(text), file=sys.stderr, flush=True)


def hush() -> None:
    """Send what is left in the buffers nowhere. What could be shown was flushed; if nobody reads
    the rest, the interpreter must not complain or wait at its last flush.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    try:
        sys.stderr.flush()
    except OSError:  # what could not be shown on a closed terminal is still in its buffer
        os.dup2(nowhere, sys.stderr.fileno())


if __name__ == "__main__":
    conceal(behind="--")
    sys.exit(main())
