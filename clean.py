"""Wipe the runtime state of a home, or check it: ``python clean.py``, ``python clean.py --check``."""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # Ctrl-C ends the process without a traceback, also while the rest is imported

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import shutil
import sys
from pathlib import Path

from dory import check
from dory.cli import agent
from dory.config import command_line
from dory.config.command_line import Parser
from dory.identity import listing
from dory.text import formatting
from dory.text.formatting import table

STATE = ("agents", "chats", "blobs", "links")


def main() -> int:
    """Exit code 0; 1 when the check finds something or the person says no; 2 when an agent runs or
    the disk refuses.
    """
    options = Parser(
        prog="clean.py", description="Wipe all agents, rooms and blobs, or check them."
    )
    options.add_home()
    options.add_argument("--yes", action="store_true", help="wipe without asking")
    options.add_argument(
        "--check",
        action="store_true",
        help="wipe nothing: verify every blob, reference and identity",
    )
    given = options.parse_args()
    try:
        return checked(given.home) if given.check else wiped(given.home, given.yes)
    except OSError as error:
        agent.tell("clean.py", command_line.failure(error, given.home))
        return 2


def checked(home: Path) -> int:
    """Print what is wrong in ``home``. A folder that holds no state at all is more likely a
    misspelt one than a healthy one.
    """
    if not any((home / name).exists() for name in STATE):
        agent.tell(
            "clean.py", f"{home} holds no agents, rooms or blobs to check: is it the right folder?"
        )
        return 2
    found = list(check.problems(home))
    for problem in found:
        agent.show(formatting.one_line(problem, 1000))
    agent.show(
        f"{home}: {len(found)} problem{'s' * (len(found) > 1)}"
        if found
        else f"{home}: everything is whole"
    )
    return 1 if found else 0


def wiped(home: Path, yes: bool) -> int:
    """Show what goes, ask, remove."""
    running = [one for one in listing.agents(home) if one.pid is not None]
    if running:
        names = ", ".join(f"{one.name} (process {one.pid})" for one in running)
        agent.tell(
            "clean.py",
            f"{names} runs: stop it first: {command_line.command(home, 'agent.py', '--stop', running[0].hash[:8])}",
        )
        return 2
    present = [home / name for name in STATE if (home / name).exists()]
    if not present:
        agent.show(f"{home} holds no agents, rooms or blobs: nothing to do")
        return 0
    agent.show(table([("what", "how many", "bytes"), *map(_row, present)]))
    if not yes and not _agreed():
        agent.show("nothing was removed")
        return 1
    for folder in present:
        shutil.rmtree(folder)
    agent.show("removed")
    return 0


def _row(folder: Path) -> tuple[str, str, str]:
    inside = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    count = (
        len(listing.folders(folder.parent))
        if folder.name == "agents"
        else len([path for path in inside if path.suffix in (".md", ".json")])
    )
    return f"{folder.name}/", str(count), str(sum(path.stat().st_size for path in inside))


def _agreed() -> bool:
    try:
        return input("Remove all of it? It cannot be undone. [y/N] ").strip().lower() in (
            "y",
            "yes",
        )
    except EOFError:
        agent.show("")
        return False


if __name__ == "__main__":
    sys.exit(main())
