"""``python -m dory.backup``: one agent, or all, in one file, whether they run or not.

    python -m dory.backup 1a2b             write the agent to dory-1a2b….tar.gz in this folder
    python -m dory.backup all home.tar.gz  write all that the home holds to this file

The file is as the agents were at one instant. It is for its owner's eyes only: it holds everything
that they know. ``dory.restore`` puts it back.
"""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import sys
from pathlib import Path

import click

from dory.cli.output import show, tell
from dory.clock import utc
from dory.config.command_line import failure
from dory.config.options import folder as folder_type
from dory.config.options import home_option, program
from dory.errors import ConfigError, DoryError
from dory.identity import listing
from dory.text import formatting
from dory.text.typed_commands import command

_NAMED = 5
"""So many of the files that are left out are named."""


@program(
    "dory.backup",
    "Write the agent HASH, or all agents, with their rooms and blobs to the file TO, also while "
    "they run. 4 or more digits of the hash will do.",
    epilog="Without TO the file is in the current folder, and its name has the time. If TO is a "
    "folder, the file is there.",
)
@click.argument("who", metavar="HASH|all")
@click.argument("to", metavar="[TO]", required=False, type=folder_type)
@home_option
def main(who: str, to: Path | None, home: Path) -> int:
    """Exit code 0; 2 after a one-line error, without a file."""
    try:
        return _backed_up(home, who, to)
    except (DoryError, OSError) as error:
        tell(main.shown_name, failure(error, home))
    except KeyboardInterrupt:
        tell(main.shown_name, "stopped, and no file was written")
    return 2


def _backed_up(home: Path, who: str, to: Path | None) -> int:
    from dory.identity import snapshot

    everything = who == "all"
    folders = listing.folders(home)
    if not everything:
        hash = listing.find(home, who)
        folders = [folder for folder in folders if folder.name == hash]
    if not folders:
        raise ConfigError(f"nobody lives in {home}: is it the right folder?")
    at = utc()
    name = f"dory-{'all' if everything else folders[0].name[:8]}-{at:%Y%m%dT%H%M%SZ}.tar.gz"
    target = to or folder_type(".")
    if target.is_dir():
        target /= name
    if target.exists() or target.is_symlink():
        raise ConfigError(f"{target} is there already: name another file")
    if not target.parent.is_dir():
        raise ConfigError(f"there is no folder {target.parent}: make it first")
    taken = snapshot.take(home, folders, target, at, everything)
    if taken.left_out:
        named = ", ".join(taken.left_out[:_NAMED])
        more = len(taken.left_out) - _NAMED
        rest = f" and {more} more" if more > 0 else ""
        tell(
            main.shown_name, f"left out, as a backup holds only sound files of Dory: {named}{rest}"
        )
    agents = formatting.plural(len(folders), "agent")
    count = formatting.plural(len(taken.entries), "file")
    show(f"{agents}, {count}, {target.stat().st_size:,} bytes: {target}")
    show(f"put it back with: {command(home, 'restore', str(target))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
