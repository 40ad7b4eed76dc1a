"""Wipe the runtime state of a home (``python clean.py``), check it (``--check``), or accept
files of different times (``--accept``).
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C ends the process without a traceback, also while the rest is imported
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import sys
from pathlib import Path

import click

from dory.cli.output import show, show_table, tell
from dory.config.command_line import failure
from dory.config.options import home_option, program
from dory.errors import DoryError
from dory.text.typed_commands import command

_PROBLEM_WIDTH = 1000
"""Characters of a problem that are shown."""


@program("clean.py", "Wipe all agents, rooms and blobs, or check them.")
@home_option
@click.option("--yes", is_flag=True, help="wipe without asking")
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="wipe nothing: verify every blob, reference and identity",
)
@click.option(
    "--accept",
    metavar="HASH",
    help="accept files of different times, with which the agent refuses to go on; for when there is"
    " no backup",
)
def main(home: Path, yes: bool, only_check: bool, accept: str | None) -> int:
    """Exit code 0; 1 when the check finds something or the person says no; 2 when an agent runs or
    the disk refuses.
    """
    try:
        if accept:
            return accepted(home, accept)
        return checked(home) if only_check else wiped(home, yes)
    except (DoryError, OSError) as error:
        tell(main.shown_name, failure(error, home))
        return 2


def checked(home: Path) -> int:
    """Print what is wrong in ``home``, and what should be looked at, which is no failure. A folder
    that holds no state at all is more likely a misspelt one than a healthy one.
    """
    from dory.identity import home as homes

    if not homes.present(home):
        message = f"{home} holds no agents, rooms or blobs to check: is it the right folder?"
        tell(main.shown_name, message)
        return 2
    from dory import check  # here, so that --help and wiping do not wait for it
    from dory.text import formatting

    problems = list(check.problems(home))
    for line in (*problems, *check.warnings(home)):
        show(formatting.one_line(line, _PROBLEM_WIDTH))
    if not problems:
        show(f"{home}: everything is whole")
        return 0
    show(f"{home}: {len(problems)} {'problem' if len(problems) == 1 else 'problems'}")
    return 1


def accepted(home: Path, prefix: str) -> int:
    """Make an agent's files agree, tell it, and index anew. Raises ``DoryError`` if it runs."""
    import os

    from dory.cli import recall
    from dory.clock import utc
    from dory.config import secrets
    from dory.config.settings import Config
    from dory.identity import generations, listing
    from dory.identity.identity import Identity
    from dory.storage import database, locks

    folder = home / "agents" / listing.find(home, prefix)
    with locks.held(folder):
        told = generations.accept(folder)
        if not told:
            show(f"the files of {folder.name} are of the same time: nothing to do")
            return 0
        me = Identity(home, folder.name, utc, secrets.secrets(Config(), os.environ))
        me.notice(
            f"A person took your files as they are: {told}. You may hear again what you heard."
        )
        me.commit()
        show(f"{told}; {me.name} goes on with what there is")
        if (folder / database.NAME).exists():
            return recall.rebuilt(folder, me.blobs)
    return 0


def wiped(home: Path, yes: bool) -> int:
    """Show what goes, ask, remove. Raises ``DoryError`` if something there is not Dory's."""
    from dory.identity import home as homes
    from dory.identity import listing

    running = [agent for agent in listing.agents(home) if agent.pid is not None]
    if running:
        names = ", ".join(f"{agent.name} (process {agent.pid})" for agent in running)
        stop = command(home, "agent.py", "--stop", running[0].hash[:8])
        tell(main.shown_name, f"{names} runs: stop it first: {stop}")
        return 2
    present = homes.present(home)
    if not present and not homes.unfinished(home):
        show(f"{home} holds no agents, rooms or blobs: nothing to do")
        return 0
    homes.check_own(home)
    show_table([("what", "how many", "bytes"), *(_row(folder) for folder in present)])
    if not yes and not _agreed():
        show("nothing was removed")
        return 1
    homes.wipe(home)  # looks at everything again: a person may take long to answer
    show("removed")
    return 0


def _row(folder: Path) -> tuple[str, str, str]:
    """A folder, the number of what it holds, and its size."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    if folder.name == "agents":
        from dory.identity import listing

        count = len(listing.folders(folder.parent))
    else:
        count = sum(path.suffix in (".md", ".json") for path in files)
    return f"{folder.name}/", str(count), str(sum(path.stat().st_size for path in files))


def _agreed() -> bool:
    try:
        answer = input("Remove all of it? It cannot be undone. [y/N] ")
    except EOFError:
        show("")
        return False
    return answer.strip().lower() in ("y", "yes")


if __name__ == "__main__":
    sys.exit(main())
