"""A process that says numbered messages in the room, ``python -m stress.crowd.writer``, and a shell
script that does the same.
"""

import random
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from dory import clock
from dory.config.options import program
from dory.storage.rooms import Rooms, laid_out
from stress.crowd.lines import ROOM, message


def write(home: Path, name: str, messages: int, pause: float) -> None:
    """Say all messages through ``Rooms.say``, with pauses of ``pause`` seconds on average."""
    rooms = Rooms(home / "chats")
    for number in range(1, messages + 1):
        rooms.say(ROOM, "USER", name, message(name, number), clock.utc())
        time.sleep(random.uniform(0, 2 * pause))


def script(home: Path, name: str, messages: int, pause: float) -> Iterator[str]:
    """The lines of a shell script that takes no lock: it appends each message with one
    ``printf``.
    """
    room = shlex.quote(str(Rooms(home / "chats").path(ROOM)))
    at = clock.second(clock.utc())
    yield "set -e"
    for number in range(1, messages + 1):
        line = f"[USER:{name} {at}] {laid_out(message(name, number))}"
        yield f"printf '%s\\n' {shlex.quote(line)} >> {room}"
        yield f"sleep {pause}"


@program("python -m stress.crowd.writer", "Say numbered messages in a room as NAME.")
@click.argument("name")
@click.option("--home", type=Path, metavar="FOLDER", required=True, help="where chats/ is")
@click.option("--messages", type=int, default=200, metavar="N", help="how many (default: 200)")
@click.option(
    "--pause",
    type=float,
    default=0.2,
    metavar="SECONDS",
    help="between two of them (default: 0.2)",
)
def main(name: str, home: Path, messages: int, pause: float) -> int:
    """Say what the command line asks for."""
    write(home, name, messages, pause)
    return 0


if __name__ == "__main__":
    sys.exit(main())
