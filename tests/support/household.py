"""Shared by most tests: a home with one identity, a clock that a test sets, hostile texts, and a
disk that fails on demand.
"""

import fcntl
import gc
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, get_args

from hypothesis import strategies as st

from dory import check
from dory.config.settings import Config
from dory.extensions import Stores
from dory.identity import context
from dory.identity.context import Entry
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.text import references
from dory.turn.core_tools import CoreTools
from dory.turn.extension import Extension, Freshness
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox
from dory.turn.tool_runner import ToolRunner

MEMORY = (
    "/dev/shm"
    if os.access("/dev/shm", os.W_OK | os.X_OK) and shutil.disk_usage("/dev/shm").free > 2**31
    else None
)
"""A disk that need not be waited for, where there is one that is large enough."""
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

_PIECES = [
    "\\",
    "◱",
    "◲",
    "◱hash=5d41402abc4b2a76 gist=x◲",
    "[#1 heard dev]",
    "[#",
    "[USER:ada 2026-03-02T12:00:00Z]",
    "[AGENT:",
    "[NOTICE:x y]",
]
_BREAKS = [
    "\n",
    "\r",
    "\r\n",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    " ",
    "    ",
    "\t",
    "\n\n",
]
_WORDS = [
    "SAY dev hi",
    "<<END",
    "END",
    "=======",
    ">>>>>>> REPLACE",
    "<<<<<<< SEARCH",
    "```",
    "<think>",
    "</think>",
    "<reasoning>",
    "[dory-room 2]",
]

texts = st.lists(
    st.sampled_from(_PIECES + _BREAKS + _WORDS) | st.text(max_size=6), max_size=12
).map("".join)
"""Texts as somebody would write them who wants to be taken for the harness, and any others."""


_CALLS = [
    "SAY dev hello",
    "READ_FILE LIFE.md",
    "READ_FILE SOUL.md 1-9",
    "JOIN lab",
    "LEAVE dev",
    "UNCOMPACT the soul",
]
_KINDS = ["heard", "response", "MEMORY.md", "SEGMENT.md", "workspace", "notice", "later"]
moments = st.tuples(st.sampled_from(_KINDS), texts) | st.tuples(
    st.just("response"), st.sampled_from(_CALLS)
)
"""What may happen to an identity within an epoch, for ``Household.live``."""
turns_of_life = moments | st.tuples(st.sampled_from(["fade", "restart"]), texts)
"""The same, and what begins a new epoch."""


class Time:
    """A clock that moves on by a second with every look."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


class Household:
    """A home with one identity in the room ``dev``, and what a process would hold of it."""

    def __init__(
        self,
        home: Path,
        config: Config | None = None,
        secrets: Sequence[str] = ("hunter2-hunter2",),
    ) -> None:
        self.home = home
        self.clock = Time()
        self.config = config or Config()
        self.secrets = secrets
        self.hash = boot(home, "dory", "dev", self.clock, secrets)
        self.restart().begin()

    def restart(self, home: Path | None = None) -> Identity:
        """Load the identity again, as the next process would, from this home or a copy of it."""
        self.me = Identity(home or self.home, self.hash, self.clock, self.secrets)
        self.tools = CoreTools(self.me, self.config)
        self.hands = ToolRunner(self.me, self.tools.tools(), self.config.result_limit)
        return self.me

    def hear(self, room: str, name: str, text: str, kind: str = "USER") -> None:
        """Somebody says something in a room."""
        self.me.rooms.say(room, kind, name, text, self.clock())

    def said(self, room: str, kind: str = "AGENT") -> list[str]:
        """What was said in a room."""
        return [line.text for line in self.me.rooms.messages(room) if line.kind == kind]

    def respond(self, text: str) -> bool:
        """One response, stashed and acted on as a turn does; returns whether another turn must
        follow.
        """
        hash = self.me.blobs.stash(
            text, kind="response", gist=text, at=self.clock(), parent=self.me.state.parent
        )
        self.me.state.parent = hash
        self.me.state.turn = self.me.state.turn + 1
        self.me.add("response", "now", references.escape(text))
        self.me.log("response", text, hash)
        follow = self.hands.act(hash, self.hands.parse(text))
        self.me.commit()
        return follow

    def result(self, text: str) -> Entry:
        """The last entry that one response with one tool line gave."""
        self.respond(text)
        return self.me.context.entries[-1]

    def fade(self, entries: Sequence[Entry], gist: str) -> str:
        """Compact these neighbouring entries as a new epoch; the hash of the original."""
        hash = self.me.blobs.stash(
            context.render(entries), kind="context", gist=gist, at=self.clock()
        )
        self.me.context.replace(
            entries, [context.compacted(entries[0].first, entries[-1].last, hash, gist, gist)]
        )
        self.me.log("compacted", gist, hash)
        self.me.new_epoch()
        return hash

    def live(self, moment: tuple[str, str]) -> None:
        """One moment of a life."""
        what, text = moment
        match what:
            case "heard":
                self.hear("dev", "ada", text)
                Inbox(self.me, [], print).receive()
            case "response":
                self.respond(text.replace("the soul", self.hash))
            case "MEMORY.md" | "SEGMENT.md":
                (self.me.folder / what).write_bytes(text.encode())
            case "workspace":
                (self.me.folder / "workspace" / str(len(text))).touch()
            case "notice":
                self.me.notice(text)
                self.me.commit()
            case "later":
                self.clock.at += timedelta(hours=5)
            case "fade":
                self.fade(
                    self.me.context.entries[len(text) % len(self.me.context.entries) :][:4], text
                )
            case "restart":
                self.restart().begin()


class Living(Household):
    """A household whose agent has what ``extensions`` makes, and ``past``, its memory."""

    def restart(self, home: Path | None = None) -> Identity:
        me = super().restart(home)
        self.past = Stores(me.folder, me.blobs)
        extensions = self.extensions(me, self.past)
        self.host = ExtensionHost(extensions, me.notice, me.now)
        tools = [tool for extension in extensions for tool in extension.tools()]
        self.hands = ToolRunner(me, [*self.tools.tools(), *tools], self.config.result_limit)
        return me

    def section(self) -> str:
        """The sections of its extensions as a prompt shows them now, without the first header."""
        sections = self.host.sections(*get_args(Freshness), epoch=self.me.state.epoch)
        return "\n".join(sections.values()).partition("\n")[2]

    def extensions(self, me: Identity, past: Stores) -> Sequence[Extension]:
        """As the next process would have them."""
        raise NotImplementedError


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program holds the lock of the file at ``path``."""
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def copy_of(home: Path, place: Path) -> Path:
    """A copy of a home, there. Nothing is collected meanwhile: SQLite takes its log away when a
    connection is that nobody holds any more.
    """
    gc.disable()
    try:
        return shutil.copytree(home, place, symlinks=True)
    finally:
        gc.enable()


@contextmanager
def household() -> Iterator[Household]:
    """One in a folder of its own, for property tests: they run many times within one test."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Household(Path(folder))


def bodies(entries: Sequence[Entry], kind: str) -> list[str]:
    """The bodies of the entries of one kind."""
    return [entry.body for entry in entries if entry.kind == kind]


class Killed(BaseException):
    """Stands for ``kill -9``: nothing in the house catches it."""


class Mishap:
    """Whether it has struck."""

    def __init__(self) -> None:
        self.struck = False


_CHANGES = {"open", "write", "ftruncate", "rename", "symlink", "unlink", "mkdir"}


@contextmanager
def mishap(at: int, error: BaseException) -> Iterator[Mishap]:
    """Instead of the ``at``-th system call of this thread that may change the disk, ``error`` is
    raised; it is swallowed at the block's end.

    The interpreter announces each call of a C function to a profiler; one that raises prevents the
    call.
    """
    left = at
    outcome = Mishap()

    def announced(frame: FrameType, event: str, function: Any) -> None:
        nonlocal left
        if (
            event == "c_call"
            and function.__name__ in _CHANGES
            and getattr(function.__self__, "__name__", "") == "posix"
        ):
            left -= 1
            if not left:
                outcome.struck = True
                raise error

    before = sys.getprofile()
    sys.setprofile(announced)
    try:
        yield outcome
    except type(error) as raised:
        if raised is not error:
            raise
    finally:
        sys.setprofile(before)


def killed_everywhere(house: Household, act: Callable[[], object]) -> Iterator[None]:
    """What is left of ``act``, killed before each of its changes of the disk and at last not at
    all, each in a copy of the home in which the next process was killed as it resumed, and the one
    after it has told of the interruption. The check must find nothing there.
    """
    for number in count(1):
        house.restart(copy_of(house.home, house.home.with_name(f"{house.home.name}-{number}")))
        with mishap(number, Killed()) as met:
            act()
        for again in (number % 9 + 1, 10**9):
            house.restart(house.me.home)
            with mishap(again, Killed()):
                house.me.begin()
                house.hands.report_interruption()
        yield
        assert house.me.state.running is None and list(check.problems(house.me.home)) == []
        if not met.struck:
            return


def interruption(house: Household) -> list[list[str]]:
    """What the newest notice of an interruption says: the lines that ran, and those that did not;
    empty when there is none.
    """
    notices = "\n".join(bodies(house.me.context.entries, "notice"))
    reports = re.findall(r"Ran: (.*)\. Did not run, and had no effect: (.*)\. Repeat", notices)
    return (
        [[title for title in listed.split("; ") if title != "none"] for listed in reports[-1]]
        if reports
        else []
    )


def assert_told(house: Household, lines: Sequence[str], done: Sequence[str]) -> None:
    """Of the ``lines`` of its last response with an effect the agent is told exactly that those
    ``done`` ran, or it has all of them or none.
    """
    if report := interruption(house):
        ran, rest = ([title for title in listed if title in lines] for listed in report)
        assert ran == done and rest == [line for line in lines if line not in done]
    else:
        assert done == (lines if bodies(house.me.context.entries, "response") else [])
