"""One life: a home, the agent processes that run in it one after the other, how each is killed, and
the checks after each resume.
"""

import contextlib
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dory import check
from dory.errors import DoryError
from dory.identity import known_homes, listing
from dory.offline.server import Server
from dory.storage.rooms import Rooms
from stress.chaos import calls
from stress.chaos.checks import ANY_MODEL, CHECKS, Check
from stress.chaos.home import Home
from stress.chaos.hostile import Hostile
from stress.chaos.orders import Obedient
from stress.chaos.plan import HOSTILE, RANDOM, Plan, Point
from stress.chaos.process import Broken, Process, identity
from stress.chaos.talk import Ledger, Talk

_LATEST = 1.5
"""Seconds. A kill at a random instant comes at most so long after the start of the process."""
_LATENCY = 0.03
"""Seconds that the model behind HTTP takes, so that some kills come during a model call."""
_ROUNDS = 6
"""How often people repeat what leads to a point before the point counts as missed."""
_LOOKS = 4
"""How often the files of a living agent are checked before a violation counts."""
_PAUSE = 0.2
"""Seconds between two such checks."""
_GROWING = ("talk", "uncompact", "remember", "tell", "ask") * 9


@dataclass(frozen=True, slots=True)
class Violation:
    """A check that failed. ``kill`` is the number of kills before it, ``point`` that of the
    last.
    """

    seed: int
    kill: int
    point: str
    check: str
    what: str
    hostile: bool = False


@dataclass(slots=True)
class Record:
    """The result of a life: the points at which it was killed, the points that it did not reach,
    how often each check was made, and what failed.
    """

    seed: int
    kills: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    checks: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    """How often a hostile model was asked, by purpose."""
    violations: list[Violation] = field(default_factory=list)


class Life:
    """The life of ``plan`` in the folder ``home``. The home is empty if the plan is fresh;
    otherwise it holds an identity, and ``ledger`` is what was acknowledged so far.
    """

    def __init__(self, plan: Plan, home: Path, ledger: Ledger) -> None:
        self.record = Record(plan.seed)
        self._plan = plan
        self._home = home
        self._ledger = ledger
        self._chance = random.Random(plan.seed)
        self._hostile = Hostile(plan.seed) if plan.hostile else None
        self._checks = ANY_MODEL if plan.hostile else CHECKS
        self._talk = Talk(home, plan.seed, ledger, plan.on_the_wire)
        self._log = b""
        self._dreamed = 0

    def live(self) -> Record:
        """Live the whole life. If it does not go on, it ends with that violation."""
        with self._model() as arguments:
            try:
                for point in self._plan.points:
                    self._until_killed(point, arguments)
                if self._hostile:
                    self._hostile.reform()
                with Process(self._home, arguments) as last:
                    self._require(last.settled(), f"it ended: {last.last_words()}")
                    self._look(last)
                    self._answered(last)
                    last.stop()
                self._look(None)
            except Broken as error:
                self._count("life goes on", [str(error)])
        if self._hostile:
            self.record.answers = self._hostile.answers
        return self.record

    @contextlib.contextmanager
    def _model(self) -> Iterator[list[str]]:
        """The arguments that name the model, while it can be reached."""
        if self._hostile:
            with self._hostile.served() as flags:
                yield flags
            return
        if not self._plan.on_the_wire:
            yield ["--model", "offline"]
            return
        with Server(Obedient(), latency=_LATENCY) as server:
            way = "native" if self._plan.native else "lines"
            yield ["--model", "obedient", "--base-url", server.base_url, "--tools", way]

    def _until_killed(self, point: Point, arguments: list[str]) -> None:
        """Start an agent and let people do what leads to the point. If the agent never reaches it,
        or outlives it, it is killed where it is.
        """
        unnamed = point.name in (RANDOM, HOSTILE)
        occurrence = self._chance.randint(1, point.last) if point.often else 1
        with Process(self._home, arguments, "" if unnamed else point.name, occurrence) as agent:
            timer = threading.Timer(self._chance.uniform(0, _LATEST), agent.kill)
            if point.name == RANDOM:
                timer.start()
            if agent.settled():
                self._look(agent)
            self._lead_to(point, agent)
            if point.ending:
                agent.end()
            missed = self._missed(point, agent)
            agent.kill()
        self._require(
            agent.exit_code == -signal.SIGKILL
            or (point.ending and agent.exit_code == 0)
            # what fails while it starts or ends is told, and then it ends
            or (calls.fails(point.name) and agent.gave_up()),
            f"it ended by itself with exit code {agent.exit_code}: {agent.last_words()}",
        )
        if missed:
            self.record.missed.append(point.name)
        self.record.kills.append(RANDOM if missed else point.name)
        self._count(
            "clean.py --check is clean right after the kill", list(check.problems(self._home))
        )
        if self._chance.random() < 0.4:
            self._talk.do("talk", identity(self._home))  # nobody hears it for now

    def _lead_to(self, point: Point, agent: Process) -> None:
        """Let people do what leads to the point, until the agent is killed there or it is behind
        the agent.
        """
        fails = calls.fails(point.name)
        while point.name == RANDOM and agent.exit_code is None:
            self._do("any", agent)
        for what in point.lead * (1 if point.name == HOSTILE else _ROUNDS):
            if agent.exit_code is None and not (fails and calls.injected(self._home)):
                self._do(what, agent)
        if (fails or point.name == HOSTILE) and agent.exit_code is None and agent.settled():
            self._look(agent)

    def _missed(self, point: Point, agent: Process) -> bool:
        """Whether the agent has not come to the point."""
        if calls.fails(point.name):
            return not calls.injected(self._home)
        return point.name != HOSTILE and agent.exit_code in (None, 0)

    def _do(self, what: str, agent: Process) -> None:
        if what == "edit":
            # an editor saves over what was written since it opened the file, whoever wrote that
            agent.settled()
        self._talk.do(what, identity(self._home))
        if self._chance.random() < 0.8:  # else the next comes at once
            agent.settled()

    def _look(self, agent: Process | None) -> None:
        """Make all checks. A living agent may be between two of its steps, so what seems wrong is
        checked again.
        """
        for look in range(1, _LOOKS + 1):
            home = Home(
                self._home,
                listing.folders(self._home)[0],
                self._ledger,
                len(self.record.kills),
                self._log,
                self._dreamed,
            )
            problems = {name: _found(home, self._checks[name]) for name in self._checks}
            if agent is None or look == _LOOKS or not any(problems.values()):
                break
            time.sleep(_PAUSE)
            if not agent.settled():
                return  # killed during the checks; they come again after the next resume
        self._log, self._dreamed = home.log, home.dreamed
        for name, wrong in problems.items():
            self._count(name, wrong)

    def _answered(self, agent: Process) -> None:
        self._talk.do("remember", identity(self._home))
        said = self._ledger.said[-1]
        before = len(Rooms(self._home / "chats").read(said.room, 0))
        self._require(agent.settled(), f"it ended over {said.text!r}: {agent.last_words()}")
        answers = [
            line
            for line in Rooms(self._home / "chats").read(said.room, 0)[before - 1 :]
            if line.kind == "AGENT"
        ]
        self._count("the next line is answered", [] if answers else [f"{said.text!r} was not"])

    def _require(self, held: bool, otherwise: str) -> None:
        if not held:
            raise Broken(otherwise)

    def _count(self, name: str, wrong: list[str]) -> None:
        kills = self.record.kills
        self.record.checks[name] += 1
        self.record.violations += [
            Violation(
                self._plan.seed,
                len(kills),
                kills[-1] if kills else "",
                name,
                what,
                self._plan.hostile,
            )
            for what in wrong
        ]


def _found(home: Home, judge: Check) -> list[str]:
    try:
        return list(judge(home))
    except DoryError as error:
        return [str(error)]


def grow(home: Path) -> Ledger:
    """Let an identity live in the empty folder ``home`` without a kill, until much was compacted
    and an opened original is about to be folded again. Returns the ledger.
    """
    talk = Talk(home, 0, Ledger(), ordering=False)
    with Process(home, ["--model", "offline"]) as agent:
        agent.settled()
        for what in _GROWING:
            talk.do(what, identity(home))
            agent.settled()
        agent.stop()
    return talk.ledger


def copied(home: Path, ledger: Ledger, place: Path) -> Ledger:
    """Copy a home to ``place``, as one that agents may run in. Returns a copy of the ledger for
    it.
    """
    shutil.copytree(home, place, symlinks=True)
    known_homes.remember(place)
    return Ledger(list(ledger.said), list(ledger.edits))
