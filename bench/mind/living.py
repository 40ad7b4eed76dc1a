"""The agent of the tasks: the real loop's parts in this process, with a clock that only the script
moves, and the model in question.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Self

from bench.common.stepping import Alone, Hourglass, rest
from bench.fortnight.script import BEGINS
from bench.mind import past
from bench.mind.checks import Outcome
from bench.mind.tasks import DEV, LAB, TASKS, WORKSPACE, Said, Task
from dory.config.dream_schedule import DreamSettings
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.extensions import Stores, checked
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.process.signals import ShutdownSignal
from dory.storage import files, locks
from dory.text.formatting import one_line
from dory.text.prompt_files import MEMORY, USER
from dory.turn import models
from dory.types import Event, Model, Usage

PATIENCE = 1800.0
"""Seconds that work beside the turns may take: a compaction of a small model on a small machine."""
_PAUSE = timedelta(minutes=10)
_NOW = BEGINS + timedelta(days=7, hours=9)
"""When the tasks begin: the past was last week."""
_NIGHT = timedelta(hours=12)
_NEVER = DreamSettings(interval_h=10_000.0)
"""No Dream comes in between: what it keeps is another measurement's subject."""
_OWNER = "ada"
_SHOWN = 200
"""Characters of what the harness said about a failure."""


@dataclass(frozen=True, slots=True)
class Step:
    """What came of messages that were said at once: what the agent ``said`` by room, whether each
    message was answered in its room, the model calls, and why one of them failed.
    """

    said: Mapping[str, str]
    answered: bool
    usages: tuple[Usage, ...]
    failure: str

    @property
    def seconds(self) -> float:
        """Seconds in which the model was asked for turns."""
        return sum(usage.seconds for usage in self.usages if usage.purpose == "turn")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one task: ``wrong`` is empty if all is right."""

    name: str
    wrong: tuple[str, ...]
    steps: tuple[Step, ...]
    tools: tuple[str, ...]
    turns: int


class Living(Alone):
    """The agent; ``complaints`` is what it would have told the person at its terminal."""

    def __init__(self, me: Identity, settings: Config, model: Model) -> None:
        self.complaints: list[str] = []
        self.ran: list[str] = []
        super().__init__(me, settings, model, False, ShutdownSignal())
        names = {tool.name for tool in self.extensions.tools()}
        me.listeners.append(lambda event: self._ran(event, names))

    def say(self, text: str) -> None:
        """Keep it."""
        self.complaints.append(text)

    def _ran(self, event: Event, names: set[str]) -> None:
        if event.kind in names:
            self.ran.append(event.kind)


class Life:
    """A life in the empty folder ``home``. ``settings`` name the model in question. Raises
    ``DoryError`` if it cannot be lived.
    """

    def __init__(self, home: Path, settings: Config) -> None:
        self._home = home
        self._settings = checked(
            replace(settings, dream=_NEVER, owners=(_OWNER,), private_rooms=(LAB,))
        )
        self._clock = Hourglass(BEGINS)
        self._held = ExitStack()
        self._hash = boot(home, "dory", DEV, self._clock)
        self._folder = home / "agents" / self._hash
        for name, text in WORKSPACE.items():
            (self._folder / "workspace" / name).write_text(text, encoding="utf-8")

    def __enter__(self) -> Self:
        self._held.enter_context(locks.held(self._folder))
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def live(self) -> Iterator[Result]:
        """The past, then one task after the other."""
        self._live_past()
        self._clock.at = _NOW
        settings = models.fitted(self._settings)
        agent = self._woken(settings)
        for task in TASKS:
            if task.wakes:
                self._clock.at += _NIGHT
                agent = self._woken(settings)
            yield self._done(agent, task)

    def _live_past(self) -> None:
        """Each evening what was said fades, so that the first days fade again and again."""
        played = past.Played()
        agent = self._woken(replace(Config(model=OFFLINE), dream=_NEVER), played)
        for day in past.days():
            for said in day.said:
                self._clock.at = max(self._clock.at, said.at)
                if said.name == past.AGENT:
                    played.say(DEV, said.text)
                    rest([agent], PATIENCE)
                else:
                    agent.me.rooms.say(DEV, "USER", said.name.lower(), said.text, self._clock())
            agent.compaction.start(by_hand=True)
            rest([agent], PATIENCE)

    def _woken(self, settings: Config, model: Model | None = None) -> Living:
        me = Identity(self._home, self._hash, self._clock)
        me.begin()
        return Living(me, checked(settings), model or models.model(settings, settings.own))

    def _done(self, agent: Living, task: Task) -> Result:
        """The task, and what is wrong with its outcome."""
        turns = agent.me.state.turn
        agent.ran.clear()
        steps = [self._step(agent, step) for step in task.steps]
        outcome = self._outcome(agent, steps[-1].said)
        wrong = [step.failure for step in steps if step.failure]
        if not all(step.answered for step in steps):
            wrong.append("a message was not answered")
        wrong += filter(None, (check(outcome) for check in task.checks))
        return Result(
            task.name, tuple(wrong), tuple(steps), outcome.tools, agent.me.state.turn - turns
        )

    def _step(self, agent: Living, messages: Sequence[Said]) -> Step:
        """Say it, and wait until nothing is left to do."""
        me = agent.me
        self._clock.at += _PAUSE
        for message in messages:
            if message.room not in me.subscriptions():
                me.join(message.room)
        before = {room: me.rooms.size(room) for room in me.subscriptions()}
        read = files.size(self._folder / usage_log.NAME)
        for message in messages:
            me.rooms.say(message.room, "USER", message.name, message.text, self._clock())
        rest([agent], PATIENCE)
        said = {room: _said(me, room, before.get(room, 0)) for room in me.subscriptions()}
        answered = all(said.get(message.room) for message in messages)
        return Step(said, answered, tuple(self._usages(read)), _failure(agent))

    def _outcome(self, agent: Living, said: Mapping[str, str]) -> Outcome:
        me = agent.me
        durable = [files.read_from(self._folder / name, 0).decode() for name in (MEMORY, USER)]
        stores = Stores(self._folder, me.blobs, readonly=True)
        try:
            notes = {note.name: note.content for note in stores.notes if note.kind == "Note"}
            entries = [entry for day in stores.diary.days() for entry in stores.diary.entries(day)]
        finally:
            stores.close()
        return Outcome(
            said,
            tuple(agent.ran),
            "\n".join(durable),
            notes,
            "\n".join(map(str, entries)),
            frozenset(me.subscriptions()),
        )

    def _usages(self, read: int) -> Iterator[Usage]:
        """The calls since the log had ``read`` bytes."""
        for line in usage_log.read(self._folder / usage_log.NAME, read):
            if isinstance(line, usage_log.Call):
                yield line.usage


def _said(me: Identity, room: str, start: int) -> str:
    """What the agent has said in a room since byte ``start`` of it."""
    lines = me.rooms.messages(room, start)
    return "\n".join(line.text for line in lines if line.kind == "AGENT" and line.name == me.name)


def _failure(agent: Living) -> str:
    """Why the model could not be asked for an answer; empty if it could. The next message is then
    tried at once.
    """
    if not agent.me.state.stuck:
        return ""
    agent.me.state.stuck = False
    why, _, _ = agent.complaints[-1].partition("; the turn is tried again")
    return f"the model failed: {one_line(why, _SHOWN)}"
