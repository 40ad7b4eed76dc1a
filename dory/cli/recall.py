"""An agent's past from the shell, whether it runs or not.

    python -m dory.recall 1a2b hotel lisbon        what RECALL would answer; only reads
    python -m dory.recall 1a2b --dump notes        its notes and archives as markdown files in a new folder; only reads
    python -m dory.recall 1a2b --load notes        puts those in the place of all that it has; the agent must not run
    python -m dory.recall 1a2b --rebuild           makes the index anew from the life, the notes and the layers; the agent must not run

Notes stand nowhere else, so they are to be dumped now and then. So do memories, conversations and
relationships, which no rebuilding touches: a copy of the agent's folder keeps them. Archives of
stretches that still stand behind references are no such loss: the agent makes those that are
missing, after its next start.

Exit code 0; 1 when nothing was found, or not everything could be indexed; 2 after a one-line error.
"""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import argparse
import sys
from contextlib import closing
from pathlib import Path

from dory import check
from dory.cli import agent
from dory.config.command_line import Parser, failure
from dory.errors import ConfigError, DoryError, FormatError
from dory.extensions.notes import export
from dory.extensions.recall.search import RecallSearch
from dory.identity import listing
from dory.storage import locks
from dory.storage.blobs import Blobs


def main() -> int:
    """Do what the command line says."""
    options = Parser(
        prog="dory.recall",
        description="Search everything that an agent ever heard, said and did, and what it noted.",
        epilog="Archives that are missing, of stretches that still stand behind references, come back after the next start of the agent.",
    )
    options.add_argument(
        "identity", metavar="HASH", help="whose past; 4 or more digits of the identity will do"
    )
    options.add_argument(
        "query", nargs="*", default=[], metavar="QUERY", help="what to look for: any words"
    )
    options.add_home()
    options.add_argument(
        "--dump",
        type=_folder,
        metavar="FOLDER",
        help="write its notes and archives into a new folder",
    )
    options.add_argument(
        "--load",
        type=_folder,
        metavar="FOLDER",
        help="replace its notes and archives by those in a folder",
    )
    options.add_argument("--rebuild", action="store_true", help="make the index anew")
    given = options.parse_args()
    try:
        return _done(given)
    except (DoryError, OSError) as error:
        agent.tell("dory.recall", failure(error, given.home))
        return 2


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("name a folder")
    return Path(text)


def _done(given: argparse.Namespace) -> int:
    if sum(map(bool, (given.query, given.dump, given.load, given.rebuild))) != 1:
        raise ConfigError(
            "give one thing to do: words to look for, --dump FOLDER, --load FOLDER or --rebuild"
        )
    folder = given.home / "agents" / listing.find(given.home, given.identity)
    blobs = Blobs(given.home / "blobs")
    if given.query:
        return _searched(folder, blobs, " ".join(given.query))
    if given.dump:
        with closing(RecallSearch(folder, blobs, readonly=True)) as past:
            agent.show(
                f"{export.dump(past.notes, given.dump)} notes and archives are in {given.dump}"
            )
        return 0
    with locks.held(folder), closing(RecallSearch(folder, blobs)) as past:
        if given.rebuild:
            return _rebuilt(folder, blobs, past)
        agent.show(
            f"{export.load(past.store, past.notes, given.load)} notes and archives were loaded from {given.load}"
        )
        return 0


def _searched(folder: Path, blobs: Blobs, query: str) -> int:
    record, live = check.as_committed(folder)
    with closing(RecallSearch(folder, blobs, readonly=True)) as past:
        indexed, lived = past.chronicle.mark.newest, record.next_id - 1
        if indexed < lived:
            agent.tell(
                "dory.recall",
                f"{indexed} of {lived} entries are indexed: {record.name} does the rest while it runs, or --rebuild now",
            )
        answer = past.recall(query, live)
    agent.show(answer)
    return int(answer.startswith("no hits"))


def _rebuilt(folder: Path, blobs: Blobs, past: RecallSearch) -> int:
    record, live = check.as_committed(folder)
    noted = len(list(past.notes))  # where these cannot be read, --dump would be of no use either
    try:
        past.reset()
    except FormatError as error:
        raise FormatError(
            f"first save the {noted} notes and archives with --dump FOLDER, to --load them again afterwards; {error}"
        ) from error
    damage = past.chronicle.index_all(live, blobs, record.name)
    for one in damage:
        agent.tell("dory.recall", str(one))
    agent.show(f"{past.chronicle.mark.newest} entries and {noted} notes and archives are indexed")
    return int(bool(damage))


if __name__ == "__main__":
    sys.exit(main())
