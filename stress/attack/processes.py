"""Other processes, signals and wiping: nobody's process is ended and nobody's folder is removed but
those that were meant.
"""

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator

from dory.identity import listing
from stress.attack.attack import Attack
from stress.attack.ground import PROMPT, Ground

_HOLD = """
import fcntl, os, sys, time
folder = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(folder, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""
_RACES = 6


def reused(ground: Ground) -> Iterator[str]:
    """The pid in an agent's lock belongs to another process now, and somebody else holds it."""
    agent = ground.agent()
    agent.kill()
    stranger = ground.start("sleep", "600")
    holder = ground.start(sys.executable, "-c", _HOLD, str(ground.folder))
    ground.until(lambda: "held" in holder.words)
    for content in (f"{stranger.pid} 1 2\n", f"{stranger.pid} {(ground.folder / 'lock')}\n"):
        (ground.folder / "lock").write_text(content)
        stop = ground.run("agent.py", "--stop", ground.folder.name)
        if not stranger.lives:
            yield f"--stop has ended a stranger whose pid was in the lock: {content!r}"
            return
        if not stop.ended():
            yield "--stop says that it has stopped what it did not know"


def meanwhile(ground: Ground) -> Iterator[str]:
    """An agent is started while clean.py waits for the answer of a person, who says yes."""
    first = ground.agent()
    yield from ground.unstopped(first, "before the attack")
    clean = ground.program("clean.py", typed=True)
    if not ground.until(lambda: "[y/N]" in clean.words):
        yield f"clean.py did not ask: {clean.words!r}"
    agent = ground.agent(ground.folder.name)
    clean.type("y\n")
    if clean.ended() in (0, None):
        yield f"clean.py went on: {clean.words[-200:]!r}"
    yield from ground.unanswered("after the attack")
    yield from ground.unstopped(agent, "after the attack")


def racing(ground: Ground) -> Iterator[str]:
    """clean.py and a new agent start at the same moment. One of them wins."""
    ground.agent().kill()
    for _ in range(_RACES):
        agent = ground.program("agent.py", *ground.endpoint)
        ground.until(lambda: False, ground.chance.uniform(0.2, 1.5))
        clean = ground.run("clean.py", "--yes")
        ground.until(
            lambda agent=agent: "is awake" in agent.words or not agent.lives  # type: ignore[misc]
        )
        if agent.lives:
            yield from ground.unanswered(f"after clean.py said {clean.words[-80:]!r}")
            yield from ground.unstopped(agent, "after the race")
        elif not agent.words.strip():
            yield "the agent ended without a word"
        yield from ground.problems()


def project(ground: Ground) -> Iterator[str]:
    """A project has folders of its own that are called agents, chats, blobs and links."""
    files = ["agents/planner.py", "chats/readme.md", "chats/dev.md", "links/index.json"]
    files += ["blobs/ab/cat.png", "agents/0123456789abcdef/notes.txt"]
    for name in files:
        path = ground.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    clean = ground.run("clean.py", "--yes")
    if clean.ended() == 0:
        yield f"clean.py wiped a project: {clean.words!r}"
    yield from (f"{name} is gone" for name in files if not (ground.home / name).exists())
    # the same beside a real agent
    agent = ground.program("agent.py", *ground.endpoint)
    ground.until(lambda: "is awake" in agent.words or not agent.lives)
    agent.kill()
    ground.run("clean.py", "--yes")
    yield from (f"{name} is gone" for name in files if not (ground.home / name).exists())


def linked(ground: Ground) -> Iterator[str]:
    """A folder of the home is a symlink to somebody's files."""
    ground.agent().kill()
    for name in ("chats", "blobs", "links"):
        outside = ground.place / f"mine-{name}"
        outside.mkdir()
        (outside / "diary.md").write_text("mine")
        place = ground.home / name
        if place.exists():
            place.rename(ground.place / f"aside-{name}")
        place.symlink_to(outside)
        ground.run("clean.py", "--yes")
        if not (outside / "diary.md").exists():
            yield f"clean.py followed the symlink {name}"
        place.unlink(missing_ok=True)
        if (aside := ground.place / f"aside-{name}").exists() and not place.exists():
            aside.rename(place)
    if not listing.folders(ground.home):
        yield "the agents are gone, although clean.py refused"


def held(ground: Ground) -> Iterator[str]:
    """Another process holds the identity's folder; then the agent's own lock file is removed."""
    agent = ground.agent()
    (ground.folder / "lock").unlink()
    second = ground.run("agent.py", ground.folder.name, *ground.endpoint)
    if second.ended() == 0:
        yield "a second process ran the identity when its lock file was gone"
    yield from ground.unanswered("after the lock file was removed")
    yield from ground.unstopped(agent, "after it")
    descriptor = os.open(ground.folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        late = ground.run("agent.py", ground.folder.name, *ground.endpoint, seconds=4 * PROMPT)
        if late.ended() == 0 or not late.words.strip():
            yield f"an agent whose folder is held: {late.words!r}"
    finally:
        os.close(descriptor)


def vanished(ground: Ground) -> Iterator[str]:
    """All files of the home are removed while the agent runs."""
    agent = ground.agent()
    while ground.home.exists() and agent.lives:
        shutil.rmtree(ground.home, ignore_errors=True)  # it may write meanwhile
        if not any(ground.home.rglob("*")):
            break
    ground.until(lambda: not agent.lives, 3)
    if agent.lives:
        yield from ground.unstopped(agent, "when its home was gone")
    elif agent.process.returncode != 2 or "Traceback" in agent.words:  # by itself, with an error
        yield f"it ended with exit code {agent.process.returncode}: {agent.words[-500:]!r}"
    if len(agent.words.splitlines()) > 40:
        yield f"it printed {len(agent.words.splitlines())} lines"


ATTACKS = (
    Attack("a pid that was given anew", "--stop ends no stranger", reused),
    Attack("a start while clean.py asks", "nothing is removed", meanwhile),
    Attack("a start while clean.py wipes", "one of them wins, and a home is whole", racing),
    Attack("folders of a project", "clean.py removes nothing foreign", project, spoils=True),
    Attack("a symlink in the home", "clean.py removes nothing behind it", linked, spoils=True),
    Attack("a lock that somebody else holds", "one process runs an identity", held),
    Attack("a home that vanishes", "the agent ends well, in a few lines", vanished, spoils=True),
)
