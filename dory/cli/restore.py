"""``python -m dory.restore``: puts what a backup holds into a home.

    python -m dory.restore home.tar.gz --home NEW    all that it holds, into a new home
    python -m dory.restore home.tar.gz 1a2b          one agent of it, into this home
    python -m dory.restore one.tar.gz --replace      in place of that agent, which is set aside
    python -m dory.restore one.tar.gz --as-new       beside it, as another identity

Everything is unpacked and verified in a folder of its own first (``storage/archive.py``, and the
whole check). Only then it is put in place: blobs, rooms, at last each agent by one rename. What a
kill leaves in between is a home without that agent, and the same command again completes it. A
room that has gone on since keeps its lines, and the agent hears them as new ones.

Anybody may have made the backup. So a home that gets a text, or an agent with a SOUL or settings
that no agent there has, is not known any more: the next start shows what is there and asks.
"""

from dory import regular_files
from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import click

from dory.cli import recall
from dory.cli.output import show, tell
from dory.clock import utc
from dory.config import kept, loader
from dory.config.command_line import failure
from dory.config.options import folder as folder_type
from dory.config.options import home_option, program
from dory.errors import Busy, ConfigError, DoryError
from dory.identity import home as homes
from dory.identity import known_homes, listing
from dory.storage import archive, database, files, locks
from dory.storage.archive import Manifest
from dory.storage.blobs import Blobs, is_sound
from dory.storage.rooms import LINKED
from dory.text import formatting
from dory.text.typed_commands import again, command, elsewhere

_STAGE = ".dory-restore-"
_STAGE_AGE = 3600.0
"""Seconds after which a folder of an interrupted restore is removed."""
_SHOWN = 1000


@program(
    "dory.restore",
    "Put the agents of the backup FILE, or those named by HASH, into a home that does not have "
    "them.",
    epilog="Nothing is put in place before everything in FILE was verified.",
)
@click.argument("file", type=folder_type)
@click.argument("hashes", nargs=-1, metavar="[HASH]...")
@home_option
@click.option(
    "--replace", is_flag=True, help="set an agent that is there aside and put the saved one there"
)
@click.option("--as-new", is_flag=True, help="as another identity, beside the one that is there")
@click.option("--anyway", is_flag=True, help="also if the check finds problems in it")
def main(
    file: Path, hashes: Sequence[str], home: Path, replace: bool, as_new: bool, anyway: bool
) -> int:
    """Exit code 0; 1 if the check finds problems in the backup; 2 after a one-line error."""
    os.umask(0o077)  # what is restored is for its owner only
    try:
        if replace and as_new:
            raise ConfigError("give --replace or --as-new, not both")
        home.mkdir(parents=True, exist_ok=True)
        homes.refuse_links(home)
        _sweep(home)
        with tempfile.TemporaryDirectory(prefix=_STAGE, dir=home) as stage:
            typed = partial(again, home, "restore", str(file), *hashes)
            return _restored(file, hashes, home, Path(stage), replace, as_new, anyway, typed)
    except (DoryError, OSError) as error:
        tell(main.shown_name, failure(error, home))
    except KeyboardInterrupt:
        tell(main.shown_name, "stopped: the same command again begins anew")
    return 2


def _restored(
    file: Path,
    hashes: Sequence[str],
    home: Path,
    stage: Path,
    replace: bool,
    as_new: bool,
    anyway: bool,
    typed: Callable[..., str],
) -> int:
    """``typed`` is the command that restores this, with further flags."""
    from dory import check

    manifest = archive.unpack(file, stage)
    _complete(stage, manifest, hashes)
    agents = [listing.find(stage, hash) for hash in hashes] or [
        folder.name for folder in listing.folders(stage)
    ]
    if not agents:
        raise ConfigError(f"{file} holds no agent")
    problems = list(check.problems(stage))
    _say((*problems, *check.warnings(stage)))
    if problems and not anyway:
        given = {"--replace": replace, "--as-new": as_new, "--anyway": True}
        way = typed(*(flag for flag, is_given in given.items() if is_given))
        tell(main.shown_name, f"nothing was put in place: {way} restores it as it is")
        return 1
    foreign = list(_foreign(home, stage, agents))
    agents = [_renamed(stage, hash) for hash in agents] if as_new else agents
    with homes.booting(home):
        _possible(home, stage, agents, replace, typed)
        if foreign and known_homes.knows(home):
            known_homes.forget(home)  # before anything is there that an agent may start with
        homes.mark(home)
        _place_shared(home, stage, agents)
        for hash in agents:
            _wakeable(home, stage, hash, manifest.at)
    if not known_homes.knows(home):
        _say_foreign(foreign)
    return 0


def _wakeable(home: Path, stage: Path, hash: str, at: str) -> None:
    """Put an agent in place that knows from when it is, and say how it is woken."""
    with suppress(DoryError):  # with --anyway, what cannot be read is put back as it is
        _told(stage, hash, at)
    _place_agent(home, stage, hash)
    show(f"{hash} is as it was at {at[:19]} UTC")
    show(f"wake it: {command(home, 'agent.py', hash[:8])}")


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        show(formatting.one_line(line, _SHOWN))


def _say_foreign(lines: Sequence[str]) -> None:
    _say(lines)
    show("the next start shows the SOUL and settings there, and asks if its agents may run")


def _complete(stage: Path, manifest: Manifest, hashes: Sequence[str]) -> None:
    """Make what no file of the backup holds: folders, subscriptions. Take away what git would run
    if it is not Dory's own.
    """
    from dory.extensions.dream import repository

    for kind in homes.STATE[:3]:
        (stage / kind).mkdir(exist_ok=True)
    for agent in manifest.agents:
        folder = stage / "agents" / agent.hash
        for name in ("subs", "workspace"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for room in agent.rooms:
            (folder / "subs" / f"{room}.md").symlink_to(LINKED / f"{room}.md")
        config = folder / ".git" / "config"
        if config.exists() and regular_files.content(config) != repository.CONFIG.encode():
            config.unlink()  # it is made anew when the agent wakes


def _renamed(stage: Path, hash: str) -> str:
    """Make an agent another identity, with another name, and return its hash."""
    from dory.identity.identity import Identity

    blobs = Blobs(stage / "blobs")
    soul = blobs.get(hash)
    new = blobs.stash(soul.body, kind="soul", gist=soul.gist, at=utc())
    os.rename(stage / "agents" / hash, stage / "agents" / new)
    me = Identity(stage, new, utc)
    former = me.state.name
    me.state.name = f"{(former.rpartition('-')[0] or former)[:55]}-{new[:8]}"
    me.notice(
        f"You are a copy of {former} by a person's wish, and {me.state.name} from now on. What"
        f" {former} has said up to now, you have said; from now on it is another agent."
    )
    me.commit()
    if (me.folder / database.NAME).exists():
        recall.rebuilt(me.folder, blobs)  # the index holds the name of whoever has spoken
    return new


def _told(stage: Path, hash: str, at: str) -> None:
    """Tell the agent from when it is."""
    from dory.identity.identity import Identity

    me = Identity(stage, hash, utc)
    me.notice(f"You were restored from a backup of {at[:19]} UTC: what you did later is undone.")
    me.commit()


def _foreign(home: Path, stage: Path, agents: Sequence[str]) -> Iterator[str]:
    """What the backup brings that decides how agents of the home are and where their talk goes, one
    line each: texts that the home does not have, and SOULs and settings that none of its agents
    has.
    """
    for name in known_homes.OWN_TEXTS:
        if (stage / name).exists() and not os.path.lexists(home / name):
            yield f"{name} comes from the backup"
    souls = {_soul(home, folder.name) for folder in listing.folders(home)}
    known = [_settings(folder) for folder in listing.folders(home)]
    urls = set(known_homes.endpoints(home)).union(*map(kept.endpoints, known))
    with suppress(DoryError, OSError, ValueError):
        urls |= kept.endpoints(loader.home_layer(home / "dory.yaml").content)
    for hash in agents:
        soul = _soul(stage, hash)
        if soul is None or soul not in souls:
            yield f"{hash[:8]} comes with a SOUL that no agent there has"
        try:
            settings = kept.load(stage / "agents" / hash) or {}
            for url in sorted(kept.endpoints(settings) - urls):
                yield f"{hash[:8]} comes with an endpoint of its own: {url}"
            if settings and settings not in known:
                yield f"{hash[:8]} comes with settings that no agent there has"
        except (DoryError, OSError, ValueError) as error:
            yield str(error)


def _soul(home: Path, hash: str) -> str | None:
    """The SOUL of an agent; None if it cannot be read."""
    with suppress(DoryError, OSError):
        return Blobs(home / "blobs").get(hash).body
    return None


def _settings(folder: Path) -> kept.Content:
    """What an agent remembers; nothing if that cannot be read."""
    with suppress(DoryError, OSError, ValueError):
        return kept.load(folder) or {}
    return {}


def _possible(
    home: Path, stage: Path, agents: Sequence[str], replace: bool, typed: Callable[..., str]
) -> None:
    """Raise ``DoryError`` if something in the home is in the way. Nothing was put in place yet."""
    regular_files.refuse_links(*(home / "blobs").glob("??"), *(home / "blobs").glob("??/*.md"))
    for hash in agents:
        folder = home / "agents" / hash
        if not os.path.lexists(folder):
            continue
        if locks.holder(folder) is not None:
            stop = command(home, "agent.py", "--stop", hash[:8])
            raise Busy(f"{hash[:8]} runs: stop it first, with {stop}")
        if not replace:
            raise ConfigError(
                f"{hash[:8]} lives in {home} already: {typed('--replace')} sets it aside,"
                f" {typed('--as-new')} restores the saved one beside it"
            )
    for path in sorted((stage / "chats").glob("*.md")):
        there = home / "chats" / path.name
        if os.path.lexists(there) and _longer(path, there) is None:
            raise ConfigError(
                f"chats/{path.name} is another room than the saved one: restore into another home,"
                f" with {elsewhere()}"
            )


def _longer(saved: Path, there: Path) -> Path | None:
    """The one of two files that begins with all of the other; None if neither does."""
    if not there.is_file() or there.is_symlink():
        return None
    short, long = sorted((there, saved), key=files.size)  # that which is there, if they are equal
    with regular_files.opened(short) as first, regular_files.opened(long) as second:
        while chunk := first.read(2**20):
            if second.read(len(chunk)) != chunk:
                return None
    return there if files.size(saved) <= files.size(there) else saved


def _place_shared(home: Path, stage: Path, agents: Sequence[str]) -> None:
    """Put blobs, rooms and links in place, and texts that the home does not have."""
    blobs = Blobs(home / "blobs")
    blobs.open()
    for path in Blobs(stage / "blobs").walk():
        there = blobs.path(path.stem)
        content = regular_files.content(path)
        if not is_sound(path.stem, content):
            show(f"blobs/{path.parent.name}/{path.name} is damaged, and left out")
        elif not there.exists() or not is_sound(there.stem, regular_files.content(there)):
            there.parent.mkdir(exist_ok=True)
            files.replace(there, content, blobs.folder)
    for path in sorted((stage / "chats").iterdir()):
        there = home / "chats" / path.name
        there.parent.mkdir(exist_ok=True)
        if not there.exists():
            files.replace(there, regular_files.content(path))
        elif path.suffix == ".md" and _longer(path, there) == path:
            files.append(there, regular_files.content(path)[files.size(there) :])
    for path in [*stage.glob("links/*.json"), *stage.glob("*.yaml"), *stage.glob("*.md")]:
        there = home / path.relative_to(stage)
        there.parent.mkdir(exist_ok=True)
        if not os.path.lexists(there):
            files.replace(there, regular_files.content(path))
            show(f"{path.relative_to(stage)} was restored, too")


def _place_agent(home: Path, stage: Path, hash: str) -> None:
    """Put an agent in place by one rename. One that is there is set aside."""
    agents = home / "agents"
    if (agents / hash).exists():
        with locks.held(agents / hash):
            aside = agents / f".{hash}.replaced-{time.time_ns()}"
            os.rename(agents / hash, aside)
        show(f"the one that was there is {aside} now")
    (stage / "agents" / hash / "lock").unlink(missing_ok=True)
    os.rename(stage / "agents" / hash, agents / hash)
    files.sync_folder(agents)


def _sweep(home: Path) -> None:
    """Remove what interrupted restores have left."""
    for left in home.glob(f"{_STAGE}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime >= _STAGE_AGE:
                shutil.rmtree(left)


if __name__ == "__main__":
    sys.exit(main())
