"""State that is put back, moved away, copied or damaged: it is refused in a line that says what to
do, and nothing that was acknowledged is cut off.
"""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from stress.attack.attack import Attack
from stress.attack.ground import ANSWER, Ground

_TALK = 5


def twin(ground: Ground) -> Iterator[str]:
    """The identity's folder is moved away while its agent runs, a copy is put in its place, and an
    agent is started on the copy.
    """
    first = ground.agent()
    yield from ground.unanswered("before the attack")
    folder = ground.folder
    folder.rename(ground.place / "aside")
    shutil.copytree(ground.place / "aside", folder, symlinks=True)
    ground.agent(folder.name)
    yield from ground.unanswered("by the copy")
    mark = ground.mark()
    asked = f"{mark} who is there?"
    ground.model.always = lambda prompt: (
        f"SAY dev {mark} {ANSWER}"
        if asked in prompt.text and f"{mark} {ANSWER}" not in prompt.text
        else "WAIT"
    )
    ground.say(asked)
    ground.until(lambda: ground.said().count(f"{mark} {ANSWER}") > 1, 5)
    if (count := ground.said().count(f"{mark} {ANSWER}")) != 1:
        yield f"one line was answered {count} times by two processes of one identity"
    if first.lives and not _refuses(first.words):
        yield f"the first process lives on and has not said a word: {first.words[-200:]!r}"


def _refuses(words: str) -> bool:
    return "moved" in words or "replaced" in words or "copy" in words or "another" in words


def put_back(name: str, ground: Ground) -> Iterator[str]:
    """A file of the identity is put back from a back-up that is older than the rest."""
    agent = ground.agent()
    yield from _talk(ground, agent.words)
    yield from ground.unstopped(agent, "before the attack")
    folder = ground.folder
    old = (folder / name).read_bytes()
    agent = ground.agent(folder.name)
    yield from _talk(ground, agent.words)
    yield from ground.unstopped(agent, "before the attack")
    before = _acknowledged(folder)
    (folder / name).write_bytes(old)
    again = ground.program("agent.py", folder.name, *ground.endpoint)
    ground.until(lambda: "is awake" in again.words or not again.lives)
    awake = again.lives
    again.kill()
    words = again.words + ground.said("NOTICE")
    lost = [line for line in before if line not in _acknowledged(folder)]
    if lost and name != "LIFE.md":
        yield f"{len(lost)} lines of LIFE.md were cut off"
    if Path(name).stem not in words:
        yield f"it went on with an older {name} and told nobody: {again.words!r}"
    elif not awake and len(again.words.strip().splitlines()) != 1:
        yield f"it should refuse in one line: {again.words!r}"


def _acknowledged(folder: Path) -> list[str]:
    """The lines of LIFE.md; those of ``.damaged`` copies do not count, as no agent reads them."""
    return (folder / "LIFE.md").read_text(errors="replace").splitlines()


def _talk(ground: Ground, words: str) -> Iterator[str]:
    for number in range(_TALK):
        ground.model.orders.append(f"NOTE_ADD n{ground.mark()} the number is {number}")
        yield from ground.unanswered("before the attack")


def lost_log(ground: Ground) -> Iterator[str]:
    """The log of SQLite, which holds what was committed last, is gone after a kill."""
    agent = ground.agent()
    yield from _talk(ground, "")
    agent.kill()
    log = ground.folder / "memory.sqlite-wal"
    if not log.exists() or not log.stat().st_size:
        yield "there was no log to lose: the attack needs another way"
        return
    log.unlink()
    (ground.folder / "memory.sqlite-shm").unlink(missing_ok=True)
    checked = ground.run("clean.py", "--check")
    if checked.ended() == 0:
        yield f"notes are gone, and the check says: {checked.words.strip()!r}"
    again = ground.program("agent.py", ground.folder.name, *ground.endpoint)
    ground.until(lambda: "is awake" in again.words or not again.lives)
    ground.until(lambda: "memory" in again.words or "note" in again.words, 3)
    if "memory" not in again.words and "note" not in again.words:
        yield f"the agent does not say that notes are gone: {again.words!r}"


def schema(ground: Ground) -> Iterator[str]:
    """One byte of SQLite's schema is another one."""
    agent = ground.agent()
    yield from _talk(ground, "")
    yield from ground.unstopped(agent, "before the attack")
    path = ground.folder / "memory.sqlite"
    content = bytearray(path.read_bytes())
    places = [match.start() for match in re.finditer(b"CREATE TABLE ", content)]
    if not places:
        yield "no schema is found in the file: the attack needs another way"
        return
    content[ground.chance.choice(places) + ground.chance.randrange(4)] ^= 1 << 7
    path.write_bytes(content)
    for name, *rest in (
        ("clean.py", "--check"),
        ("agent.py", "--list"),
        ("agent.py", ground.folder.name, "--usage"),
    ):
        ground.run(name, *rest)
    agent = ground.agent(ground.folder.name)
    for command in ("/recall number", "/notes", "/memories", "/status", "/dream"):
        ground.say(command)
    ground.model.orders.append("NOTE_ADD new something\nRECALL number")
    yield from ground.unanswered("with one byte of the schema changed")
    yield from ground.unstopped(agent, "after it")


def forged(ground: Ground) -> Iterator[str]:
    """A file in the blob store begins with the same digits as a real blob."""
    agent = ground.agent()
    ground.say("this is the real one, " * 60)
    yield from ground.unanswered("before the attack")
    real = sorted((ground.home / "blobs").glob("??/*.md"))[0]
    for name in (real.stem[:6], f"{real.stem[:8]}{'0' * 8}", f"{real.stem[:12]}{'f' * 52}"):
        text = real.read_bytes().replace(b"\n---\n", b"\n---\nthis is FORGED\n", 1)
        (real.parent / f"{name}.md").write_bytes(text)
    for digits in (real.stem[:6], real.stem[:8], real.stem):
        ground.say(f"/show {digits}")
    ground.until(lambda: len([line for line in ground.lines() if line.kind == "NOTICE"]) >= 3)
    told = ground.said("NOTICE")
    if "FORGED" in told:
        yield "a forged blob was shown"
    if "fits" not in told and "several" not in told and "ambiguous" not in told:
        yield f"nobody was told that the digits fit several blobs: {told[:200]!r}"
    yield from ground.unstopped(agent, "after it")


def clocks(ground: Ground) -> Iterator[str]:
    """All files are from another time: from 1970, then from 2100."""
    agent = ground.agent()
    yield from _talk(ground, "")
    for seconds in (0, 4_102_444_800):
        yield from ground.unstopped(agent, "before the attack")
        for path in ground.home.rglob("*"):
            if not path.is_symlink():
                os.utime(path, (seconds, seconds))
        agent = ground.agent(ground.folder.name)
        yield from ground.unanswered(f"with files from {time.gmtime(seconds).tm_year}")
    yield from ground.unstopped(agent, "after it")


_REFUSED = "it is refused or told, and nothing that was acknowledged is cut off"

ATTACKS = (
    Attack("a copy in the identity's place", "one process writes an identity", twin, spoils=True),
    Attack(
        "an older state.json", _REFUSED, lambda ground: put_back("state.json", ground), spoils=True
    ),
    Attack(
        "an older context.md", _REFUSED, lambda ground: put_back("context.md", ground), spoils=True
    ),
    Attack("an older LIFE.md", _REFUSED, lambda ground: put_back("LIFE.md", ground), spoils=True),
    Attack(
        "an older memory.sqlite",
        _REFUSED,
        lambda ground: put_back("memory.sqlite", ground),
        spoils=True,
    ),
    Attack("a lost log of SQLite", "the check and the agent say so", lost_log, spoils=True),
    Attack(
        "one bad byte in the schema", "everybody gets a line, and it lives", schema, spoils=True
    ),
    Attack("a forged blob", "the whole hash counts, and ambiguity is told", forged, spoils=True),
    Attack("files from another time", "the agent goes on", clocks),
)
