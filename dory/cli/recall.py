"""An agent's past from the shell, whether the agent runs or not.

    python -m dory.recall 1a2b hotel lisbon     print what RECALL would answer; only reads
    python -m dory.recall 1a2b --dump notes     write its notes and archives into the new folder
                                                ``notes`` as markdown files; only reads
    python -m dory.recall 1a2b --load notes     replace all its notes and archives by the files in
                                                ``notes``; the agent must not run
    python -m dory.recall 1a2b --rebuild        make the index anew from the life, the notes and the
                                                layers; the agent must not run

Notes exist nowhere else, so they should be dumped now and then. The same holds for memories,
conversations and relationships, which a rebuild does not touch: a copy of the agent's folder keeps
them. Archives of stretches that still stand behind references are no such loss: after its next
start the agent makes those that are missing.

Exit code 0; 1 when nothing was found, or not everything could be indexed; 2 after a one-line error.
"""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from dory.cli.output import show, tell
from dory.config.command_line import failure
from dory.config.options import home_option, program
from dory.errors import ConfigError, DoryError
from dory.identity import generations, listing, state
from dory.identity.state import State
from dory.storage import locks
from dory.storage.blobs import Blobs
from dory.storage.database import NAME, Store
from dory.storage.generation import Tie
from dory.text import formatting


def _folder(text: str) -> Path:
    if not text:
        raise click.BadParameter("name a folder")
    return Path(text)


@program(
    "dory.recall",
    "Search everything that the agent HASH ever heard, said and did, and what it noted. "
    "4 or more digits of the hash will do; the QUERY is any words.",
    epilog="Archives that are missing, of stretches that still stand behind references, come back "
    "after the next start of the agent.",
)
@click.argument("identity", metavar="HASH")
@click.argument("query", nargs=-1, metavar="[QUERY]...")
@home_option
@click.option(
    "--dump",
    type=_folder,
    metavar="FOLDER",
    help="write its notes and archives into a new folder",
)
@click.option(
    "--load",
    type=_folder,
    metavar="FOLDER",
    help="replace its notes and archives by those in a folder",
)
@click.option("--rebuild", is_flag=True, help="make the index anew")
def main(
    identity: str,
    query: Sequence[str],
    home: Path,
    dump: Path | None,
    load: Path | None,
    rebuild: bool,
) -> int:
    """Do what the command line says."""
    try:
        if [bool(query), bool(dump), bool(load), rebuild].count(True) != 1:
            raise ConfigError(
                "give one thing to do: words to look for, --dump FOLDER, --load FOLDER or --rebuild"
            )
        folder = home / "agents" / listing.find(home, identity)
        blobs = Blobs(home / "blobs")
        if query:
            return _searched(folder, blobs, " ".join(query))
        if dump:
            return _dumped(folder, blobs, dump)
        if load:
            return _loaded(folder, blobs, load)
        with locks.held(folder):
            return rebuilt(folder, blobs)
    except (DoryError, OSError) as error:
        _tell(failure(error, home))
        return 2


def _tell(text: str) -> None:
    tell(main.shown_name, text)


def _searched(folder: Path, blobs: Blobs, query: str) -> int:
    from dory import check
    from dory.extensions import Stores

    record, live = check.as_committed(folder)
    with closing(Stores(folder, blobs, readonly=True)) as past:
        indexed = past.chronicle.cursor.newest
        lived = record.next_id - 1
        if indexed < lived:
            rest = f"{record.name} does the rest while it runs, or --rebuild now"
            _tell(f"{indexed} of {lived} entries are indexed: {rest}")
        answer = past.search.recall(query, live)
    show(answer)
    return 1 if answer.startswith("no hits") else 0


def _dumped(folder: Path, blobs: Blobs, target: Path) -> int:
    from dory.extensions import Stores
    from dory.extensions.notes import export

    with closing(Stores(folder, blobs, readonly=True)) as past:
        dumped = formatting.plural(
            export.dump(past.notes, target), "note or archive is", "notes and archives are"
        )
        show(f"{dumped} in {target}")
    return 0


def _loaded(folder: Path, blobs: Blobs, source: Path) -> int:
    from dory.extensions import Stores
    from dory.extensions.notes import export

    with locks.held(folder), closing(Stores(folder, blobs)) as past:
        record = state.load(folder / "state.json")
        generations.check(folder, record)  # what is written now would hide what is missing
        past.store.tie = _tie(record)
        count = export.load(past.notes, source)
        loaded = formatting.plural(count, "note or archive was", "notes and archives were")
        show(f"{loaded} loaded from {source}")
    return 0


def _tie(record: State) -> Tie:
    return Tie(lambda: record.generation, record.memory_changes)


def rebuilt(folder: Path, blobs: Blobs) -> int:
    """Index everything anew, after saving what can be read of a damaged file. The caller holds the
    lock.
    """
    from dory import check
    from dory.check import salvage
    from dory.extensions import Stores

    record, live = check.as_committed(folder)
    with closing(Store(folder / NAME, readonly=True)) as store:
        problems = store.problems() if store.path.exists() else []
    if problems:
        _tell(salvage.salvage(folder, blobs, record))
    generations.check(folder, record)
    with closing(Stores(folder, blobs)) as past:
        past.store.tie = _tie(record)
        saved = formatting.plural(len(list(past.notes)), "note or archive", "notes and archives")
        past.search.reset()
        damage = past.chronicle.index_all(live, blobs, record.name)
        for problem in damage:
            _tell(str(problem))
        indexed = past.chronicle.cursor.newest
        entries = formatting.plural(indexed, "entry", "entries")
        show(f"indexed: {entries} and {saved}")
    return 1 if damage else 0


if __name__ == "__main__":
    sys.exit(main())
