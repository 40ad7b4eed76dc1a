"""One life under one way of forgetting: the parts of a real agent in a home of their own, driven
within this process.

Everything is the product's but the way of forgetting and whether there is RECALL: rooms, inbox,
extensions, the prompt builder, tool lines, the identity on disk. Whoever speaks waits for the
answer, and some minutes pass until the next message.
"""

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

from bench.forgetting.meter import Meter
from bench.forgetting.script import Moment, Question
from bench.forgetting.ways import VARIANTS, WAYS, Mind
from dory.clock import minute
from dory.config.settings import Config
from dory.config.unattended import ENDLESS
from dory.constants import TURN_LIMIT
from dory.errors import DoryError
from dory.extensions import ordered
from dory.extensions.recall.extension import RecallExtension
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm.budget import Budget
from dory.text import formatting, references, thoughts
from dory.turn.delivery import Delivery
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox
from dory.turn.models import Models
from dory.turn.prompt import PromptBuilder
from dory.turn.tool_runner import ToolRunner
from dory.types import Reply

ROOM, SPEAKER = "dev", "ada"
CALL_SECONDS = 1.0
"""What a model call takes in the figure for seconds of stall, which is computed and not measured.
"""
MEMORY = Path("/dev/shm")
"""Where there is such a folder in memory, homes are made in it: a disk would add its waits to every
turn of every way alike.
"""
OPENING = {"UNCOMPACT", "NOTE_READ", "READ_FILE"}


class Calendar:
    """A clock that advances by a second with every call, and by minutes between two messages."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 2, 8, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The time."""
        self.at += timedelta(seconds=1)
        return self.at

    def pause(self) -> None:
        """Until somebody speaks again."""
        self.at += timedelta(minutes=20)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one message: what was said, the tools that were used on the way, how many turns
    it took.
    """

    said: str
    tools: frozenset[str]
    turns: int


class Life:
    """An agent in the empty folder ``home`` that forgets in the way of that name, and may have
    RECALL and its cues.
    """

    def __init__(self, home: Path, way: str, limit: int, meter: Meter, recall: bool) -> None:
        settings = Config(
            model=meter.name,
            context_limit=limit,
            cues=recall,
            extensions="notes, recall",
            unattended=ENDLESS,
        )  # summaries would answer, too
        self.calendar = Calendar()
        self.meter = meter
        self.me = Identity(home, boot(home, "dory", ROOM, self.calendar), self.calendar)
        models = Models(
            settings, meter, Budget(self.me, settings, self._report, None), self._report
        )
        own = [
            extension
            for extension in ordered(self.me, settings, models, self._report)
            if recall or not isinstance(extension, RecallExtension)
        ]
        self._extensions = host = ExtensionHost(own, self._report)
        self._prompts = PromptBuilder(self.me, settings, self._extensions)
        most = settings.result_limit
        self._inbox = Inbox(self.me, host.commands(), self._report, most, host.cue)
        self._runner = ToolRunner(self.me, self._extensions.tools(), settings.result_limit)
        self._delivery = Delivery(self.me, settings, self._runner)
        mind = Mind(
            self.me,
            settings,
            self.meter,
            self._prompts,
            self._extensions.on_compacted,
            self._failed,
        )
        self._forgetting = (WAYS | VARIANTS)[way](mind)
        self.troubles: Counter[str] = Counter()
        self.sizes: list[int] = []
        self.stalls: list[int] = []
        self.me.begin()

    def hear(self, text: str) -> Answer:
        """Somebody says ``text``; the agent takes its turns until it sleeps."""
        self.calendar.pause()
        before, turns = self.me.rooms.size(ROOM), self.me.state.turn
        self.me.rooms.say(ROOM, "USER", SPEAKER, text, self.calendar())
        self._inbox.receive()
        used = set[str]()
        while self.me.state.awake and self.me.state.streak < TURN_LIMIT:
            self._extensions.step()
            self.stalls.append(self._forgetting.step())
            used |= self._turn()
        said = [line.text for line in self.me.rooms.read(ROOM, before) if line.kind == "AGENT"]
        return Answer("\n".join(said), frozenset(used), self.me.state.turn - turns)

    def _failed(self, text: str) -> None:
        self.troubles[text] += 1

    def _report(self, text: str) -> None:
        raise DoryError(text)

    def _turn(self) -> set[str]:
        """One turn as in the loop; returns the tools that it used."""
        me, prompt = self.me, self._prompts.build()
        self.sizes.append(me.tokens(me.context.characters))
        reply = self.meter.complete(prompt, "turn")
        me.state.characters_per_token = len(prompt.text) / max(1, reply.usage.prompt)
        answer = self._runner.parse(reply.text, reply.cut)
        self._delivery.act(self._stash(reply), answer)
        me.commit()
        self._inbox.post_notices()
        return {call.tool for call in answer.calls if not call.error}

    def _stash(self, reply: Reply) -> str:
        me, now = self.me, self.me.now()
        body, gist = (
            thoughts.as_thought(reply.reasoning) + reply.text,
            formatting.one_line(reply.text),
        )
        me.state.parent = me.blobs.stash(
            body, kind="response", gist=gist, at=now, parent=me.state.parent
        )
        me.state.turn, me.state.streak = me.state.turn + 1, me.state.streak + 1
        me.add("response", minute(now), references.escape(body))
        me.log("response", gist, me.state.parent)
        return me.state.parent


VERDICTS = ("direct", "followed", "recalled", "never", "outdated")


def judged(question: Question, answer: Answer) -> str:
    """``direct``, ``followed`` (a reference was opened first), ``recalled`` (it had to be searched
    for), ``outdated`` or ``never``.
    """
    if _names(answer.said, [question.right]):
        if "RECALL" in answer.tools:
            return "recalled"
        return "followed" if answer.tools & OPENING else "direct"
    return "outdated" if _names(answer.said, question.outdated) else "never"


def live(
    script: Iterable[Moment], way: str, limit: int, meter: Meter, recall: bool
) -> dict[str, Any]:
    """Live through ``script`` with the model in a new ``meter``; the figures of that life, shares
    of its questions among them. Dollars are None when the price is not known. Raises ``DoryError``.
    """
    began = time.monotonic()
    verdicts: Counter[str] = Counter()
    turns: list[int] = []
    characters = 0
    with tempfile.TemporaryDirectory(
        prefix="dory-forgetting-", dir=MEMORY if MEMORY.is_dir() else None
    ) as home:
        life = Life(Path(home), way, limit, meter, recall)
        for moment in script:
            answer = life.hear(moment.text)
            characters += len(moment.text)
            if question := moment.question:
                verdicts[judged(question, answer)] += 1
                turns.append(answer.turns)
    row: dict[str, Any] = {"way": way, "recall": recall, "limit": limit, "questions": len(turns)}
    for name in VERDICTS:
        row[name] = verdicts[name] / max(1, len(turns))
    return {
        **row,
        **_paid(meter),
        **_stalled(life),
        "turns_to_answer": mean(turns) if turns else 0.0,
        "life_tokens": round(characters / life.me.state.characters_per_token),
        "seconds": round(time.monotonic() - began, 1),
    }


def _paid(meter: Meter) -> dict[str, Any]:
    """Tokens, dollars and calls of a life."""
    tokens = meter.tokens
    return {
        "tokens": tokens["prompt"] + tokens["completion"],
        **{f"{name}_tokens": tokens[name] for name in ("prompt", "cached", "completion")},
        "price": meter.spent,
        "price_of": None if meter.spent is None else meter.dollars,
        "cache_hit": tokens["cached"] / tokens["prompt"],
        "calls": dict(meter.calls),
    }


def _stalled(life: Life) -> dict[str, Any]:
    """How long turns had to wait for compactions, and how large the context was."""
    return {
        "stall_calls": max(life.stalls),
        "stall_seconds": max(life.stalls) * CALL_SECONDS,
        "stalled_turns": sum(map(bool, life.stalls)),
        "context_mean": round(mean(life.sizes)),
        "context_peak": max(life.sizes),
        "turns": life.me.state.turn,
        "epochs": life.me.state.epoch,
        "failed_compactions": life.troubles.total(),
    }


def _names(text: str, values: Iterable[str]) -> bool:
    """Whether one of ``values`` stands in ``text`` as a whole word, emphasis aside."""
    plain = text.replace("**", "")
    return any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", plain) for value in values)
