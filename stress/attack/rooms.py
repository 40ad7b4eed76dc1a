"""Floods, lines without an end, other writers and other users. A room is shared by strangers; what
one of them does stops no other one, and no acknowledged line is lost.
"""

import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

from dory.clock import utc
from dory.storage.rooms import Rooms
from stress.attack.attack import Attack, Skipped
from stress.attack.ground import ANSWER, PATIENCE, ROOM, Ground

_BACKLOG = 100_000
_MEMORY = 600
"""MB that an agent may need at most."""
_SYSTEM = 20_000
"""Characters that a system message may have, whatever happened."""
_ROOMS = 2001
_WRITERS = 4
_EACH = 60
_FLOOD = """
import sys, time
with open(sys.argv[1], "ab", buffering=0) as room:
    number = 0
    while True:
        lines = (f"[USER:bob 2026-01-01T00:00:00Z] line {number + n}\\n" for n in range(1000))
        room.write("".join(lines).encode())
        number += 1000
        time.sleep(0.1)
"""
_ENDLESS = """
import sys, time
with open(sys.argv[1], "ab", buffering=0) as room:
    room.write(b"[USER:bob 2026-01-01T00:00:00Z] ")
    while True:
        room.write(b"and on " * 20)
        time.sleep(0.02)
"""
_LOCK = """
import fcntl, os, sys, time
files = [os.open(path, os.O_RDONLY) for path in sys.argv[1:]]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


def backlog(ground: Ground) -> Iterator[str]:
    """While nobody is awake, 100,000 lines are said."""
    agent = ground.agent()
    yield from ground.unanswered("before the attack")
    yield from ground.unstopped(agent, "before the attack")
    lines = (f"[USER:bob 2026-01-01T00:00:00Z] line {number}\n" for number in range(_BACKLOG))
    with open(ground.room(), "a", encoding="utf-8") as room:
        room.write("".join(lines))
    agent = ground.agent(ground.folder.name)
    yield from ground.unanswered(f"after {_BACKLOG:,} lines")
    if agent.peak > _MEMORY:
        yield f"it needed {agent.peak} MB"
    yield from ground.unstopped(agent, "after it")
    size = max(map(len, (line.text for line in ground.lines())))
    if len(ground.lines()) < _BACKLOG or size > 10_000:
        yield "the lines do not stand in the room any more"


def flooded(ground: Ground) -> Iterator[str]:
    """Somebody says 10,000 lines a second, without an end."""
    agent = ground.agent()
    yield from ground.unanswered("before the attack")
    writer = ground.start(sys.executable, "-c", _FLOOD, str(ground.room()))
    time.sleep(6)
    writer.kill()
    yield from ground.unanswered("after the flood")
    if agent.peak > _MEMORY:
        yield f"it needed {agent.peak} MB"
    writer = ground.start(sys.executable, "-c", _FLOOD, str(ground.room()))
    time.sleep(2)
    yield from ground.unstopped(agent, "during the flood")


def wide(ground: Ground) -> Iterator[str]:
    """One line of 40 MB that does not end, in a room where others talk."""
    agent = ground.agent()
    yield from ground.unanswered("before the attack")
    with open(ground.room(), "ab") as room:
        room.write(b"[USER:bob 2026-01-01T00:00:00Z] " + b"x" * 40_000_000)
    yield from _chat(ground, "after a line of 40 MB")
    yield from ground.unanswered("after a line of 40 MB")
    if agent.peak > _MEMORY:
        yield f"it needed {agent.peak} MB"
    with open(ground.room(), "ab") as room:
        room.write(b"[USER:bob 2026-01-01T00:00:00Z] " + b"y" * 40_000_000 + b"\n")
    yield from ground.unanswered("after a whole line of 40 MB")
    yield from ground.unstopped(agent, "after it")


def endless(ground: Ground) -> Iterator[str]:
    """A writer that knows of no lock never ends its line."""
    agent = ground.agent()
    yield from ground.unanswered("before the attack")
    writer = ground.start(sys.executable, "-c", _ENDLESS, str(ground.room()))
    time.sleep(1)
    yield from _chat(ground, "while another's line has no end")
    yield from ground.unanswered("while another's line has no end")
    writer.kill()
    yield from ground.unanswered("when the writer had gone")
    yield from ground.unstopped(agent, "after it")


def _chat(ground: Ground, when: str) -> Iterator[str]:
    """A person talks through chat.py."""
    mark = ground.mark()
    ground.model.asked = (ROOM, mark)
    chat = ground.run("chat.py", ROOM, "--name", "ada", "--wait", "30", said=f"{mark} hello\n")
    if chat.ended() or f"{mark} {ANSWER}" not in chat.words:
        yield f"{when} chat.py ended with exit code {chat.ended()}: {chat.words[-200:]!r}"


def joined(ground: Ground) -> Iterator[str]:
    """The model joins a new room with every tool line."""
    agent = ground.agent()
    for first in range(0, _ROOMS, 100):
        orders = "\n".join(f"JOIN a-long-name-of-a-room-{first + n}" for n in range(100))
        ground.model.orders.append(orders)
    while left := len(ground.model.orders):
        ground.say("go on")
        if not ground.until(lambda left=left: len(ground.model.orders) < left):  # type: ignore[misc]
            yield f"it stood still with {left} answers left"
            break
    yield from ground.unanswered(f"after joining {_ROOMS} rooms")
    if (size := ground.model.systems[-1]) > _SYSTEM:
        yield f"the system message has grown to {size:,} characters"
    yield from ground.unstopped(agent, "after it")


def named(ground: Ground) -> Iterator[str]:
    """Thousands of people with long names speak once each."""
    agent = ground.agent()
    rooms = Rooms(ground.home / "chats")
    lines = (
        f"[USER:{'n' * 50}-{number} 2026-01-01T00:00:00Z] hello\n" for number in range(3 * _ROOMS)
    )
    with open(rooms.path(ROOM), "a", encoding="utf-8") as room:
        room.write("".join(lines))
    yield from ground.unanswered("after thousands of names")
    if (size := ground.model.systems[-1]) > _SYSTEM:
        yield f"the system message has grown to {size:,} characters"
    ground.say("/status")
    ground.until(lambda: bool(ground.said("NOTICE")))
    if (size := len(ground.said("NOTICE"))) > _SYSTEM:
        yield f"/status has {size:,} characters"
    yield from ground.unstopped(agent, "after it")


def edited(ground: Ground) -> Iterator[str]:
    """Somebody holds a room's lock and lets sed replace the file, while people talk."""
    if not (shutil.which("flock") and shutil.which("sed")):
        raise Skipped("flock and sed are needed")
    rooms = Rooms(ground.home / "chats")
    rooms.say(ROOM, "USER", "ada", "hello", utc())
    said: list[str] = []

    def talk(name: str) -> None:
        for number in range(_EACH):
            text = f"{name}-{number} is said"
            rooms.say(ROOM, "USER", name, text, utc())
            said.append(text)

    talkers = [threading.Thread(target=talk, args=(f"w{n}",)) for n in range(_WRITERS)]
    for talker in talkers:
        talker.start()
    path = str(rooms.path(ROOM))
    while any(talker.is_alive() for talker in talkers):
        subprocess.run(["flock", path, "sed", "-i", "s/zzz/yyy/", path], check=True)
    for talker in talkers:
        talker.join()
    written = [line.text for line in ground.lines()]
    if lost := [text for text in said if text not in written]:
        yield f"{len(lost)} of {len(said)} acknowledged lines are lost"
    if len(written) != len(set(written)):
        yield "a line stands there twice"


def exchanged(ground: Ground) -> Iterator[str]:
    """The room's file is exchanged for a longer one with other lines."""
    agent = ground.agent()
    yield from ground.unanswered("before the attack")
    mark = ground.mark()
    old = ground.room().read_text(encoding="utf-8")
    lines = [f"[USER:bob 2026-01-01T00:00:00Z] {mark} number {n}\n" for n in range(200)]
    other = ground.place / "other.md"
    other.write_text(f"{old.splitlines(keepends=True)[0]}{''.join(lines)}", encoding="utf-8")
    before = len(ground.said("NOTICE")), len(agent.words)
    ground.model.asked = (ROOM, mark)
    os.replace(other, ground.room())
    heard = (ground.folder / "LIFE.md").read_text().count(mark)
    ground.until(
        lambda: (
            (ground.folder / "LIFE.md").read_text().count(f"{mark} number") >= 20
            or (len(ground.said("NOTICE")), len(agent.words)) != before
        ),
        8,
    )
    heard = (ground.folder / "LIFE.md").read_text().count(f"{mark} number")
    told = f"{ground.said('NOTICE')} {agent.words[before[1] :]}"
    if heard < len(lines) and ROOM not in told:
        yield f"of {len(lines)} lines {heard} were heard, and nobody was told"
    yield from ground.unanswered("after the exchange")
    yield from ground.unstopped(agent, "after it")


def locked(ground: Ground) -> Iterator[str]:
    """Another process locks one room for good."""
    agent = ground.agent()
    ground.model.orders.append("JOIN lab")
    ground.say("join the lab")
    ground.until(lambda: (ground.folder / "subs" / "lab.md").exists())
    yield from ground.unanswered("before the attack", room="lab")
    holder = ground.start(sys.executable, "-c", _LOCK, str(ground.room()))
    ground.until(lambda: "held" in holder.words)
    ground.model.orders.append("SAY dev into the room that is held\nSAY lab and here")
    yield from ground.unanswered("while dev was held", room="lab", seconds=2 * PATIENCE)
    chat = ground.program("chat.py", ROOM, "--name", "ada", typed=True)
    chat.type("hello\n")
    if chat.ended() is None:
        yield "chat.py waits for ever in a room that is held"
    elif not chat.words.strip():
        yield "chat.py ended without a word in a room that is held"
    chat.kill()
    yield from ground.unstopped(agent, "while a room was held")
    holder.kill()


def readable(ground: Ground) -> Iterator[str]:
    """Another user of the machine looks at the files, with the usual umask."""
    agent = ground.agent(under=("sh", "-c", 'umask 022; exec "$@"', "sh"))
    ground.model.orders.append(
        "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\nAda likes tea\n>>>>>>> REPLACE\n"
        "EDIT_FILE workspace/x.md\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"
        "NOTE_ADD tea Ada likes tea\nJOIN lab\nREMEMBER tea"
    )
    ground.say("remember my tea")
    yield from ground.unanswered("before the attack")
    ground.say("/dream")
    yield from _chat(ground, "before the attack")
    yield from ground.unstopped(agent, "before the attack")
    open_to_all = [
        path.relative_to(ground.home)
        for path in sorted(ground.home.rglob("*"))
        if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if open_to_all:
        named = ", ".join(str(path) for path in open_to_all[:6])
        yield f"{len(open_to_all)} files and folders are open to other users: {named}"


_OTHERS = "others talk on, and the agent hears and answers"

ATTACKS = (
    Attack("a backlog of 100,000 lines", "the first turn comes soon", backlog),
    Attack("10,000 lines a second", "it lives, answers afterwards, and ends when told", flooded),
    Attack("a line of 40 MB", _OTHERS, wide),
    Attack("a line that never ends", _OTHERS, endless),
    Attack("2,001 rooms", "the system message stays short", joined),
    Attack("6,003 names", "the system message stays short", named),
    Attack("sed under flock", "no acknowledged line is lost", edited),
    Attack("a room exchanged for a longer one", "its lines are heard, or people told", exchanged),
    Attack("a room that is locked for good", "other rooms go on, and chats are told", locked),
    Attack("another user of the machine", "nothing is readable for others", readable),
)
