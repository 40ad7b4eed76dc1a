"""Talk to Dory in a room: in a terminal as a person, through a pipe as a script. ``python chat.py
--help`` tells how.
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # Ctrl-C while the rest is imported ends the process without a traceback

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import argparse
import getpass
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress

from dory.chat import pipe
from dory.chat.agent_process import listening_agent
from dory.chat.session import Session
from dory.chat.signals import Signals
from dory.config.command_line import Parser, failure
from dory.errors import DoryError, ToolError
from dory.storage.rooms import check_id
from dory.text.prompt_files import ROOT


def main(arguments: Sequence[str]) -> int:
    """Run the chat; 0 if all went well, 1 if nobody answers or listens, 2 if the command line is
    wrong, 128 and more after a signal.
    """
    given, flags = read_arguments(arguments)
    signals = Signals()
    by_person = (
        sys.stdin.isatty() and sys.stdout.isatty()
    )  # asked now: a terminal that is closed later is none any more
    try:
        visit = Session(given.home, given.room, given.name)
        with (
            listening_agent(visit, ROOT / "agent.py", flags, complain, signals)
            if given.boot
            else nullcontext()
        ):
            if by_person:
                from dory.chat import screen

                screen.run(visit, signals)
            else:
                with signals.obeyed_at_once():
                    pipe.run(visit, sys.stdin, given.wait)
            signals.obey()
    except BrokenPipeError:  # nobody reads the answers any more, so nobody misses them
        return 1
    except (DoryError, OSError) as error:
        complain(f"chat.py: {failure(error, given.home)}")
        return 1
    finally:
        hush()
    return 0


def read_arguments(arguments: Sequence[str]) -> tuple[argparse.Namespace, Sequence[str]]:
    """The chat's own arguments, and behind ``--`` the agent's."""
    parser = Parser(
        prog="chat.py",
        description="Talk to Dory in a room.",
        epilog="What follows -- is handed to the agent that --boot starts.",
    )
    parser.add_argument(
        "room", nargs="?", default="dev", type=room_id, help="the room (default: dev)"
    )
    parser.add_argument(
        "--boot", action="store_true", help="start an agent if none listens, and stop it on leaving"
    )
    parser.add_argument(
        "--name", default=login_name(), help="who is speaking (default: the login name)"
    )
    parser.add_argument(
        "--wait",
        type=seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long a piped line waits for its answer (default: 60)",
    )
    parser.add_home()
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given, flags = parser.parse_args(arguments[:end]), arguments[end + 1 :]
    if flags and not given.boot:
        parser.error("what follows -- is for an agent: it needs --boot")
    return given, flags


def login_name() -> str:
    """The login name; empty where the system knows none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def room_id(text: str) -> str:
    """A legal room id, or argparse's error."""
    try:
        return check_id(text)
    except ToolError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def seconds(text: str) -> float:
    """A number of seconds above zero, or argparse's error."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return number


def complain(text: str) -> None:
    """A line for the person, beside what the room says; for nobody if the terminal is closed."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def hush() -> None:
    """What could be shown was flushed; if the rest has no reader, the interpreter must not complain
    or wait at its last flush.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    try:
        sys.stderr.flush()
    except OSError:  # what could not be shown on a closed terminal is still in its buffer
        os.dup2(nowhere, sys.stderr.fileno())


if __name__ == "__main__":
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # bytes that are no text must not end the chat
    sys.exit(main(sys.argv[1:]))
