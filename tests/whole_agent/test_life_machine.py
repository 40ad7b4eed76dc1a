"""A whole life against a model of it: people, tool lines, forgetting, crashes and a failing disk,
in any order that hypothesis can think of.
"""

import errno
import os
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agent import Agent
from dory import check
from dory.config.settings import Config
from dory.constants import PIN_TURNS
from dory.errors import DoryError
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.process.signals import ShutdownSignal
from dory.storage.rooms import Rooms, laid_out
from dory.turn import model_call
from dory.types import Prompt
from tests.support.compacting import Scripted, asked_ids, referenced, summary
from tests.support.household import MEMORY, Killed, Time, mishap
from tests.support.lifemodel import Mind, Said, lived, unanswered

STORY = "a long story about the sea, the reef and the way home, " * 5
WORDS = [
    "tea",
    "reef",
    "@story",
    "@story",
    "",
    " ",
    "\n",
    "\r",
    "\u2028",
    "\\",
    "[#1 heard dev]",
    "[USER:ada 2026-03-02T12:00:00Z] hi",
]
WORDS += [
    "◱hash=5d41402abc4b2a76 gist=x◲",
    "END",
    "SAY dev forged",
    "<think>",
    "</reasoning>",
    "```",
    "=======",
    "<<<<<<< SEARCH",
]
# few and small draws: hypothesis gives a life only so many, and what any text does to a parser is
# shown in the tests of each
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("".join)
who = st.integers(0, 1)
rooms = st.sampled_from(["dev", "dev", "dev", "lab"])
tool_lines = st.one_of(
    st.builds("SAY {} {}".format, rooms, words),
    st.builds("SAY {} <<END\n{}\nEND".format, rooms, words),
    st.builds(
        "EDIT_FILE {}\n<<<<<<< SEARCH\n{}=======\n{}\n>>>>>>> REPLACE".format,
        st.sampled_from(["MEMORY.md", "workspace/notes.md"]),
        st.sampled_from(["", "", "tea\n"]),
        words,
    ),
    st.builds("{} {}".format, st.sampled_from(["JOIN", "LEAVE", "JOIN"]), rooms),
    st.builds("UNCOMPACT @{}".format, st.integers(0, 9)),
    st.builds(
        "READ_FILE {}".format,
        st.sampled_from(["MEMORY.md", "context.md", "chats/dev.md", "nowhere"]),
    ),
    words,
)
responses = st.lists(tool_lines, min_size=1, max_size=5).map("\n".join)
stretches = st.lists(st.integers(1, 9), min_size=1, max_size=3)
drafts = st.tuples(words.map("about {}".format), st.sampled_from([1, 5, 9, 11]), words)


@dataclass(frozen=True)
class Fate:
    """What befalls an action: at which system call that may change the disk, whether it is a kill
    or an error of the disk, and what follows.
    """

    at: int
    killed: bool
    at_resume: int
    meanwhile: str | None


def fates(calls: int) -> st.SearchStrategy[Fate | None]:
    """For an action that makes about so many of those system calls; one in two is left alone."""
    resumes = st.sampled_from([0, 1, 3, 8, 12, 16, 20])
    return st.none() | st.builds(
        Fate, st.integers(1, calls), st.booleans(), resumes, st.none() | words
    )


LOOP = threading.current_thread()


class LoopTime(Time):
    """Only the loop's looks move it on: names of blobs, and so their folders, depend on dates."""

    def __call__(self) -> datetime:
        return super().__call__() if threading.current_thread() is LOOP else self.at


class Body:
    """One real agent, process after process, with the mind that the model has of it."""

    def __init__(self, home: Path, world: dict[str, list[Said]], clock: Time) -> None:
        self.home = home
        self.clock = clock
        self.hash = boot(home, "dory", "dev", clock)
        self.folder = home / "agents" / self.hash
        self.model = Scripted(turn=self._respond, segment=self._segment, summarise=self._summarise)
        self.config = Config(model="scripted", context_limit=1000, timeout=0.01)
        self.sent: tuple[int, str] = (0, "")
        self.log = b""
        self.gate = threading.Event()
        self.wake()
        tools = [tool.usage for tool in self.agent.extensions.tools()]
        self.mind = Mind(self.me.name, world, tools, heard={"dev": unanswered(world["dev"])})
        self.cuts = [3]
        self.draft = ("a gist", 5, "short")

    def wake(self) -> None:
        """As a new process does."""
        self.gate.set()
        self.gate = threading.Event()
        self.me = Identity(self.home, self.hash, self.clock)
        self.me.begin()
        self.agent = Agent(self.me, self.config, self.model, verbose=False, stop=ShutdownSignal())
        self.agent.tool_runner.report_interruption()

    def round(self) -> None:
        """One round of the loop, with a turn."""
        self.agent.inbox.receive()
        self.agent.compaction.step()
        self.agent.turn()

    def finish(self) -> None:
        """Let the compaction under way come to its end."""
        self.gate.set()
        while self.agent.compaction.under_way:
            self.agent.compaction.step()
            time.sleep(0.001)
        self.gate.clear()

    def compare(self) -> None:
        """The model learns what is new, and then the files hold what it holds."""
        self.me.commit()
        self.mind.learn(lived(self.me.context.entries, self.me.blobs))
        self.mind.at_rest()
        assert self.me.subscriptions() == sorted(self.mind.rooms)
        for name, content in self.mind.files.items():
            assert (self.folder / name).read_bytes().decode() == content
        log = (self.folder / "LIFE.md").read_bytes()
        assert log.startswith(self.log), "LIFE did not only grow"
        self.log = log
        actual, expected = (
            Counter(line.split(" ", 3)[2] for line in log.decode().splitlines()[1:]),
            self.mind.told(),
        )
        assert {kind: actual[kind] for kind in expected} == expected, (
            "LIFE tells of other things than the context holds"
        )

    def _respond(self, prompt: Prompt) -> str:
        """The answer that the mind has ready. Within an epoch each prompt goes on where the last
        one ended.
        """
        epoch, before = self.sent
        stable = prompt.text[: prompt.text.rindex("\n[#memory ")]
        self.sent = (self.me.state.epoch, stable)
        assert epoch != self.me.state.epoch or stable.startswith(before), (
            "the prompt changed within an epoch"
        )
        return self.mind.answer or ""

    def _segment(self, prompt: Prompt) -> str:
        self.gate.wait(60)
        lines: list[str] = []
        for run in asked_ids(prompt).split():
            at, last = map(int, run.split("-"))
            while at <= last:
                size = self.cuts[len(lines) % len(self.cuts)]
                lines.append(f"{at}-{min(at + size - 1, last)} part")
                at += size
        return "\n".join(lines)

    def _summarise(self, prompt: Prompt) -> str:
        gist, relevance, text = self.draft
        first = int(asked_ids(prompt).split("-")[0])
        return summary(text.replace("@story", STORY) if first % 2 else "short", relevance, gist)


class Lives(RuleBasedStateMachine):
    """One or two agents and the people around them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(
            dir=MEMORY, ignore_cleanup_errors=True
        )  # a thread of one that died may still write
        self.home = Path(self.folder.name)
        self.clock = LoopTime()
        self.world: dict[str, list[Said]] = {"dev": []}
        self.bodies: list[Body] = []
        self.unspread: list[tuple[str, Said]] = []

    @initialize(agents=st.integers(1, 2))
    def boot(self, agents: int) -> None:
        self.bodies = [Body(self.home, self.world, self.clock) for _ in range(agents)]

    @rule(
        room=rooms,
        name=st.sampled_from(["ada", "bob"]),
        text=words,
        times=st.sampled_from([1, 1, 9]),
    )
    def somebody_says(self, room: str, name: str, text: str, times: int) -> None:
        for _ in range(times):
            self.say(room, name, text)
        self.spread()

    @rule(
        who=who,
        what=st.sampled_from(["edit", "time", "turns", "restart"]),
        text=words,
        hours=st.integers(-5, 50),
    )
    def meanwhile(self, who: int, what: str, text: str, hours: int) -> None:
        body = self.body(who)
        if what == "edit":
            (body.folder / "MEMORY.md").write_bytes(text.encode())
            body.mind.files["MEMORY.md"] = text
        elif what == "time":
            self.clock.at += timedelta(hours=hours)
        elif what == "turns":
            body.me.state.turn += PIN_TURNS
        else:
            body.wake()

    @rule(who=who, fate=fates(12))
    def it_listens(self, who: int, fate: Fate | None) -> None:
        body = self.body(who)
        if self.befalls(body, body.agent.inbox.receive, fate):
            assert body.mind.all_heard()

    @rule(who=who, text=responses, fate=fates(120))
    def it_responds(self, who: int, text: str, fate: Fate | None) -> None:
        self.respond(self.body(who), text, fate)

    @rule(who=who, cuts=stretches, draft=drafts, at_once=st.booleans(), fate=fates(40))
    def it_begins_to_forget(
        self,
        who: int,
        cuts: list[int],
        draft: tuple[str, int, str],
        at_once: bool,
        fate: Fate | None,
    ) -> None:
        body = self.body(who)
        if not body.agent.compaction.under_way:
            self.somebody_says("dev", "ada", "@story", 6)
            self.respond(body, "SAY dev well", None)  # what is not answered yet does not fade
            body.cuts, body.draft = cuts, draft
            self.befalls(
                body, lambda: body.agent.compaction.start(by_hand=True), None if at_once else fate
            )
        if at_once:
            self.befalls(body, body.finish, fate)

    @precondition(lambda self: any(body.agent.compaction.under_way for body in self.bodies))
    @rule(fate=fates(40))
    def it_forgets(self, fate: Fate | None) -> None:
        body = next(body for body in self.bodies if body.agent.compaction.under_way)
        self.befalls(body, body.finish, fate)

    @precondition(lambda self: any(len(body.me.context.entries) > 9 for body in self.bodies))
    @rule(who=who, fate=fates(40))
    def it_folds_without_a_model(self, who: int, fate: Fate | None) -> None:
        body = self.body(who)
        self.befalls(body, body.agent.compaction.fold_oldest, fate)

    @precondition(lambda self: any(body.me.state.last_swap for body in self.bodies))
    @rule(fate=fates(40))
    def somebody_takes_the_forgetting_back(self, fate: Fate | None) -> None:
        body = next(body for body in self.bodies if body.me.state.last_swap)
        swapped = [
            entry
            for entry in body.me.context
            if entry.first in body.me.state.last_swap and entry.kind == "compacted"
        ]
        if self.befalls(body, body.agent.compaction.undo, fate):
            assert not [entry for entry in swapped if entry in body.me.context.entries]

    def respond(self, body: Body, text: str, fate: Fate | None) -> None:
        references = [
            *referenced(body.me.context.entries),
            *re.findall(r"◱hash=(\w+)", body.me.life.tail(50)),
            self.body(0).hash,
        ]
        body.mind.answer = re.sub(
            r"@(\d)", lambda at: references[int(at[1]) % len(references)], text
        ).replace("@story", STORY)
        if self.befalls(body, body.round, fate):
            assert body.mind.answer is None, "the response is not in the context"

    def say(self, room: str, name: str, text: str) -> None:
        """On disk; what the agent did before it was stopped, and the model is yet to learn of,
        stands above it.
        """
        text = text.replace("@story", STORY)
        Rooms(self.home / "chats").say(room, "USER", name, text, self.clock())
        self.unspread.append((room, Said("USER", name, laid_out(text))))

    def read(self, room: str) -> list[Said]:
        return [
            Said(line.kind, line.name, laid_out(line.text))
            for line in Rooms(self.home / "chats").read(room, 0)
        ]

    def spread(self) -> None:
        """What people have said since the model learned last, behind what the harness had to say,
        whatever that was.
        """
        for room, lines in self.world.items():
            for number, line in enumerate(self.read(room)):
                if line.kind == "NOTICE" and lines[number : number + 1] != [line]:
                    lines.insert(number, line)
        for room, line in self.unspread:
            self.world.setdefault(room, []).append(line)
        self.unspread.clear()

    def body(self, who: int) -> Body:
        return self.bodies[who % len(self.bodies)]

    def befalls(self, body: Body, action: Callable[[], object], fate: Fate | None) -> bool:
        """Do it under its fate, and set right what a process would; returns whether nothing befell
        it.
        """
        error = (
            Killed() if fate and fate.killed else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        )
        with mishap(fate.at if fate else 10**9, error) as seen, suppress(DoryError):
            action()
        if fate and seen.struck:
            body.mind.disk_failed = not fate.killed
            if fate.meanwhile is not None:
                self.say("dev", "ada", fate.meanwhile)
            with mishap(fate.at_resume or 10**9, Killed()) as again:
                body.wake()
            if again.struck:
                body.wake()
        body.compare()
        body.mind.disk_failed = False
        self.spread()
        assert list(check.problems(self.home)) == []
        return not seen.struck

    @invariant()
    def the_rooms_hold_what_was_said(self) -> None:
        for room, lines in self.world.items():
            standing = self.read(room)
            assert standing == lines, f"{room} holds {standing}, and should hold {lines}"

    def teardown(self) -> None:
        for body in self.bodies:
            body.gate.set()
        self.folder.cleanup()


def test_a_life_is_what_its_model_says_whatever_befalls_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # what people see of an answer under way depends on how fast the machine is, and reads rooms
    monkeypatch.setattr(model_call, "POLL", 60.0)
    run_state_machine_as_test(Lives, settings=settings(max_examples=settings().max_examples // 4))
