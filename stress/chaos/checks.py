"""What must hold in a home after each resume, whatever happened before. The checks only read; each
yields one line for every violation.

They compare the files with two sources: the ledger of what was acknowledged to people, and the life
itself, read back entry by entry.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from dory import check
from dory.errors import DoryError
from dory.extensions.notes import archives
from dory.identity import expand, heard_entry
from dory.identity.context import Entry
from dory.storage.rooms import laid_out
from dory.text import formatting, references
from dory.text.prompt_files import DURABLE
from dory.turn.delivery import UNANSWERED
from dory.types import Call, Line
from stress.chaos.dream_checks import (
    by_git,
    by_hand,
    compacted,
    dreamed,
    edited_text,
    remembered,
    versioned,
)
from stress.chaos.home import Home
from stress.chaos.orders import ROOM

HARNESS = "harness"
OPENED = "stands in the agent's context again"
DREAMT = ("the Dream has ended", "Dream: ")


def whole(home: Home) -> Iterator[str]:
    """``clean.py --check`` finds no problem, and no entry id is used for two things."""
    yield from check.problems(home.folder)
    yield from home.life[1]


def kept(home: Home) -> Iterator[str]:
    """Every acknowledged line is in its room, once and in order."""
    for room in home.rooms:
        promised = [
            _key(said.kind, said.name, said.text) for said in home.ledger.said if said.room == room
        ]
        written = [
            _key(line.kind, line.name, line.text)
            for line in home.lines(room)
            if not _own(home, line) and line.name != HARNESS
        ]
        if promised != written:
            yield f"{room} does not hold what was said there: {_difference(promised, written)}"


def heard(home: Home) -> Iterator[str]:
    """Every acknowledged line was delivered exactly once in the whole life, in the order of its
    room.
    """
    for room in home.rooms:
        due = [said for said in home.ledger.said if said.room == room and not said.command]
        delivered = [
            _heard(entry) for entry in home.life[0] if entry.kind == "heard" and entry.about == room
        ]
        expected = [laid_out(said.text) for said in due]
        if room == ROOM and delivered != expected:
            yield f"in {room} was not heard what was said: {_difference(expected, delivered)}"
        missing = Counter(laid_out(said.text) for said in due if said.inside) - Counter(delivered)
        doubled = Counter(delivered) - Counter(expected)
        if room != ROOM and (missing or doubled):
            yield f"in {room}: never heard {sorted(missing)}; heard too often {sorted(doubled)}"


def said(home: Home) -> Iterator[str]:
    """Every SAY that ran is in its room once, and nothing else was said in the agent's name."""
    expected = Counter(_message(call) for call in home.deeds.ran if call.tool == "SAY")
    written = Counter(
        (room, laid_out(line.text))
        for room in home.rooms
        for line in home.lines(room)
        if line.kind == "AGENT" and _own(home, line)
    )
    for (room, text), count in (written - expected).items():
        yield f"{text[:80]!r} stands {count} times too often in {room}"
    for (room, text), count in (expected - written).items():
        yield f"{text[:80]!r} ran {count} times more than it stands in {room}"


def edited(home: Home) -> Iterator[str]:
    """The workspace is the result of the edits that ran, applied one after the other."""
    files: dict[str, str] = {}
    for call in home.deeds.ran:
        if call.args in DURABLE:
            continue
        for search, replacement in call.edits:
            files[call.args] = edited_text(files.get(call.args, ""), search, replacement)
    for name, expected in files.items():
        path = home.identity / name
        content = path.read_text(encoding="utf-8") if path.exists() else None
        if content != expected:
            yield f"{name} is {(content or 'missing')[-200:]!r} and should be {expected[-200:]!r}"


def noted(home: Home) -> Iterator[str]:
    """There is one note for every NOTE_ADD that ran, one archive for every batch of events that was
    compacted, and one marker for each time it was.
    """
    expected = [
        tuple(call.args.split(" ", 1)) for call in home.deeds.ran if call.tool == "NOTE_ADD"
    ]
    actual = [(note.name, note.content) for note in home.notes if note.kind == "Note"]
    if actual != expected:
        yield f"the notes are not what was noted: {_difference(expected, actual)}"
    damage: list[DoryError] = []
    gone = {record.hash for record in expand.stretches(home.live, home.blobs, damage.append)}
    archived = Counter(note.hash or "" for note in home.notes if note.kind == "Archive")
    marked = Counter(marker.hash for marker in archives.markers(home.log.splitlines()))
    times = compacted(home)
    if gone - archived.keys():
        yield f"there is no archive of {sorted(gone - archived.keys())}"
    if unequal := (archived - marked) | (marked - times):
        yield f"archives and markers do not match: {dict(unequal)}"


def entered(home: Home) -> Iterator[str]:
    """The agent is in the rooms to which its JOINs and LEAVEs lead."""
    rooms = {ROOM}
    for call in home.deeds.ran:
        if call.tool == "JOIN":
            rooms.add(call.args)
        elif call.tool == "LEAVE":
            rooms.discard(call.args)
    entered_now = {link.stem for link in (home.identity / "subs").iterdir()}
    if entered_now != rooms or not rooms <= home.record.rooms.keys():
        yield (
            f"it is in {sorted(entered_now)}, has read positions in {sorted(home.record.rooms)}, "
            f"and should be in {sorted(rooms)}"
        )


def interrupted(home: Home) -> Iterator[str]:
    """After a kill the notice about interrupted tool lines names all of them and can be true."""
    yield from home.deeds.false_claims


def logged(home: Home) -> Iterator[str]:
    """LIFE.md has one line for every entry, and only grew."""
    if not home.log.startswith(home.life_before):
        yield f"LIFE.md no longer begins with the {len(home.life_before)} bytes that it had"
    whole = home.log.rpartition(b"\n")[0]  # a living agent may be in the midst of the next line
    kinds = Counter(line.split(" ", 3)[2] for line in whole.decode().splitlines()[1:])
    entries = Counter(entry.kind for entry in home.life[0])
    for kind in ("heard", "response", "notice"):
        if kinds[kind] != entries[kind]:
            yield f"LIFE.md has {kinds[kind]} lines of kind {kind} for {entries[kind]} entries"


def commanded(home: Home) -> Iterator[str]:
    """Every command took effect once and was answered once, and none was answered in a room that
    the agent was not in.
    """
    asked = Counter(said.room for said in home.ledger.said if said.command and not said.outside)
    sure = Counter(said.room for said in home.ledger.said if said.command and said.inside)
    notices = [
        (room, line.text)
        for room in home.rooms
        for line in home.lines(room)
        if line.kind == "NOTICE" and _own(home, line)
    ]
    answers = [
        (room, text)
        for room, text in notices
        if not text.startswith(DREAMT) and not text.endswith(UNANSWERED)
    ]
    answered = Counter(room for room, _ in answers)
    if answered - asked or sure - answered:
        yield f"commands and stray lines by room: {dict(asked)}; answers: {dict(answered)}"
    successes = sum(OPENED in text for _, text in answers)
    opened = home.log.decode().count(" opened ◱")
    if successes != opened:
        yield f"/uncompact was answered {successes} times, and opened {opened} originals"


def unanswered(home: Home) -> Iterator[str]:
    """Of each message that the agent leaves unanswered the room is told once at most."""
    for room in home.rooms:
        messages = 0
        for line in home.lines(room):
            if line.kind == "USER" and not line.text.startswith("/"):
                messages += 1
            elif _own(home, line) and line.kind == "NOTICE" and line.text.endswith(UNANSWERED):
                messages -= 1
                if messages < 0:
                    yield f"{room} was told too often that there will be no answer"


def torn(home: Home) -> Iterator[str]:
    """A line that was cut off when its writer died was moved to a file of its own, and the room has
    a notice about it.
    """
    for room in home.rooms:
        aside = home.folder / "chats" / f"{room}.md.torn"
        notices = sum(line.name == HARNESS for line in home.lines(room))
        if aside.exists() != bool(notices):
            yield (
                f"{room}: {aside.name} {'is' if aside.exists() else 'is not'} there, and "
                f"{notices} notices tell of it"
            )


def answered(home: Home) -> Iterator[str]:
    """Whoever spoke last in a room got an answer, or was told that there is none."""
    for room in home.rooms:
        waiting = ""
        for line in home.lines(room):
            if line.kind == "USER" and not line.text.startswith("/"):
                waiting = line.text
            elif _own(home, line):
                waiting = ""
        if waiting and room in home.record.rooms:
            yield f"{room}: nobody answered {waiting[:80]!r}, or said that there is no answer"


Check = Callable[[Home], Iterator[str]]
CHECKS: dict[str, Check] = {
    "clean.py --check is clean": whole,
    "every acknowledged line stands in its room": kept,
    "every acknowledged line was delivered exactly once": heard,
    "no SAY twice, none lost": said,
    "the workspace is what the edits made": edited,
    "USER and MEMORY are what the edits made, each a version": versioned,
    "no edit of a person is lost": by_hand,
    "the history tells of all that faded, once": remembered,
    "no Dream twice, its cursor never goes back": dreamed,
    "git finds nothing wrong": by_git,
    "notes and archives are what was noted and what faded": noted,
    "the rooms it is in": entered,
    "told truly what was interrupted": interrupted,
    "LIFE tells everything once and only grows": logged,
    "every command had its effect and its answer once": commanded,
    "silence is told once": unanswered,
    "torn lines are set aside and told": torn,
}

ANY_MODEL = {
    name: judge
    for name, judge in CHECKS.items()
    if judge in (whole, kept, heard, by_hand, remembered, dreamed, by_git, logged, unanswered, torn)
} | {"everybody gets an answer or is told": answered}
"""Those of the checks that hold whatever a model answers."""


def _own(home: Home, line: Line) -> bool:
    return line.name == home.record.name


def _key(kind: str, name: str, text: str) -> tuple[str, str, str]:
    return kind, name, laid_out(text)


def _message(call: Call) -> tuple[str, str]:
    room, _, text = call.args.partition(" ")
    return room, laid_out("\n".join(filter(None, (text.strip(), call.body))))


def _heard(entry: Entry) -> str:
    return references.unescape(heard_entry.without_cue(entry.body).partition("] ")[2])


def _difference(expected: Sequence[object], standing: Sequence[object]) -> str:
    """Where two sequences differ first."""
    place = next(
        (
            at
            for at, (wanted_item, found_item) in enumerate(zip(expected, standing, strict=False))
            if wanted_item != found_item
        ),
        min(len(expected), len(standing)),
    )
    wanted, met = (
        formatting.one_line(str(some[place : place + 2]), 200) for some in (expected, standing)
    )
    return f"they part at {place} of {len(expected)}: expected {wanted}, found {met}"
