"""What must hold in the home of a crowd once no process runs there any more. The checks only read;
each yields one line for every violation.

``lines.py`` says what everybody said. What an agent heard is read back from its life, through every
reference, and compared with the room: every line of the others once, in the order of the room. When
very much is said between two turns, an agent passes lines over: then its state names them, and the
notices in its life tell of as many.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from bench.common.reach import found
from dory import check
from dory.errors import DoryError
from dory.identity import context, listing, state
from dory.storage import files
from dory.storage.blobs import Blobs
from dory.storage.rooms import Rooms, laid_out
from dory.text import formatting
from dory.turn.delivery import UNANSWERED
from dory.types import Line
from stress.crowd.lines import ROOM, message

SPEECH = ("USER", "AGENT")
_TOLD = re.compile(rf"([\d,]+) lines? in {ROOM} were too many for you and not read")


class Home:
    """The home in ``folder`` afterwards. ``spoken`` is the number of messages of each person by
    name, ``by_agent`` that of each agent.
    """

    def __init__(self, folder: Path, spoken: Mapping[str, int], by_agent: int) -> None:
        self.folder = folder
        self.by_agent = by_agent
        self.room = Rooms(folder / "chats")
        self.agents = {
            state.load(agent_folder / "state.json").name: agent_folder
            for agent_folder in listing.folders(folder)
        }
        self.spoken = {**spoken, **dict.fromkeys(self.agents, by_agent)}

    @cached_property
    def lines(self) -> list[Line]:
        """Every message in the room."""
        return list(self.room.messages(ROOM))

    def others(self, name: str) -> list[str]:
        """What everybody but ``name`` said and it did not pass over, as it stands in a context, in
        the order of the room.
        """
        passed = self._passed_over(name)
        return [
            f"[{line.kind}:{line.name} {line.at}] {laid_out(line.text)}"
            for line in self._said_by_others(name)
            if line.end not in passed
        ]

    def passed_over(self, name: str) -> int:
        """How many lines of others it passed over, by its state."""
        return len(self._passed_over(name))

    def told(self, name: str) -> int:
        """How many lines it was told that it passed over."""
        counts = (_TOLD.match(text) for text in self._life(self.agents[name]))
        return sum(int(count[1].replace(",", "")) for count in counts if count)

    def _said_by_others(self, name: str) -> list[Line]:
        return [line for line in self.lines if line.kind in SPEECH and line.name != name]

    def _passed_over(self, name: str) -> set[int]:
        parts = state.load(self.agents[name] / "state.json").rooms[ROOM].unheard
        ends = [line.end for line in self._said_by_others(name)]
        return {end for end in ends if any(first < end <= last for first, last in parts)}

    @cached_property
    def logged(self) -> dict[str, Counter[str]]:
        """By agent: how many lines of each kind LIFE.md has."""
        logs = {
            name: (folder / "LIFE.md").read_text(encoding="utf-8").splitlines()[1:]
            for name, folder in self.agents.items()
        }
        return {name: Counter(line.split(" ", 3)[2] for line in log) for name, log in logs.items()}

    @cached_property
    def heard(self) -> dict[str, list[str]]:
        """By agent: everything that it heard, in order. Raises ``DoryError`` if a life cannot be
        read back.
        """
        return {name: list(self._heard(folder)) for name, folder in self.agents.items()}

    def _heard(self, folder: Path) -> Iterator[str]:
        tags = tuple(f"[{kind}:" for kind in SPEECH)
        return (text for text in self._life(folder) if text.startswith(tags))

    def _life(self, folder: Path) -> Iterator[str]:
        content = (folder / "context.md").read_bytes()[
            : state.load(folder / "state.json").context_bytes
        ]
        entries = found(context.parse(context.read_epoch(content)[1]), Blobs(self.folder / "blobs"))
        return (text for _, (text, _) in sorted(entries.items()))


def kept(home: Home) -> Iterator[str]:
    """No line of the room is lost, torn, duplicated or out of its speaker's order. An agent that
    has nothing left to say tells people so.
    """
    written: dict[str, list[str]] = {name: [] for name in home.spoken}
    for line in home.lines:
        if line.kind == "NOTICE" and line.name in home.agents and line.text.endswith(UNANSWERED):
            continue
        written.setdefault(line.name if line.kind in SPEECH else line.kind, []).append(line.text)
    for name, texts in written.items():
        expected = [message(name, number + 1) for number in range(home.spoken.get(name, 0))]
        if texts != expected:
            yield f"{name}: {_parting(expected, texts)}"
    for torn in sorted((home.folder / "chats").glob("*.torn")):
        yield f"chats/{torn.name} holds {files.size(torn)} bytes that somebody's append cut off"


def heard(home: Home) -> Iterator[str]:
    """Every agent heard every line of all others exactly once and in the order of the room, or was
    told that it passed it over.
    """
    for name, texts in home.heard.items():
        if texts != home.others(name):
            yield f"{name}: {_parting(home.others(name), texts)}"
        if (passed := home.passed_over(name)) != (told := home.told(name)):
            yield f"{name}: passed over {passed} lines, and was told of {told}"


def logged(home: Home) -> Iterator[str]:
    """LIFE.md of every agent has one line for every message that it heard or said. What it passed
    over is no part of its life.
    """
    for name, kinds in home.logged.items():
        others = len(home.others(name))
        if (kinds["heard"], kinds["SAY"]) != (others, home.by_agent):
            yield (
                f"{name}: heard {kinds['heard']} lines of {others} by its LIFE.md, said "
                f"{kinds['SAY']} of {home.by_agent}"
            )


def whole(home: Home) -> Iterator[str]:
    """``clean.py --check`` finds no problem: every blob, every reference, every agent's state."""
    yield from check.problems(home.folder)


CHECKS: dict[str, Callable[[Home], Iterator[str]]] = {
    "lines whole": kept,
    "lines heard": heard,
    "lives logged": logged,
    "home checked": whole,
}


def judged(home: Home) -> dict[str, list[str]]:
    """By name of the check: what it found."""
    return {name: _found(look, home) for name, look in CHECKS.items()}


def _found(look: Callable[[Home], Iterator[str]], home: Home) -> list[str]:
    try:
        return list(look(home))
    except DoryError as error:
        return [str(error)]


def _parting(expected: Sequence[str], actual: Sequence[str]) -> str:
    """Where two sequences differ first."""
    place = 0
    while expected[place : place + 1] == actual[place : place + 1] and place < len(expected):
        place += 1
    return (
        f"{len(actual)} of {len(expected)} lines, they part at {place}: expected "
        f"{_shown(expected, place)!r}, found {_shown(actual, place)!r}"
    )


def _shown(texts: Sequence[str], place: int) -> str:
    return formatting.one_line(texts[place], 100) if place < len(texts) else "nothing more"
