"""The visit of a person: the room's messages scroll by above a prompt, and the bar below it tells
who listens and who is thinking.

What is typed vanishes when it is sent and comes back as the room has it, so everything on the
screen is in the room, once and in its order. The prompt, the look-out and the wait for a signal are
tasks of one loop; whichever ends first ends the visit. The room is read and written beside that
loop.

What a notice looks like: dim, and a diff in it as people know it. Its text stays as it is.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TypeVar
from zlib import crc32

from markdown_it import MarkdownIt
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.text import Text

_BEGIN, _END = "```diff", "```"
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def coloured(text: str) -> Text:
    """``text`` with the lines of its diffs, each between a line ```` ```diff ```` and a line ````
    ``` ````, in their colours.
    """
    shown, inside = Text(style="dim"), False
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        inside = bare != _END and (inside or bare == _BEGIN)
        shown.append(
            line, style=f"not dim {_STYLES[line[0]]}" if inside and line[0] in _STYLES else ""
        )
    return shown


from dory.chat.editor import editor
from dory.chat.sanitize import visible
from dory.chat.session import Session
from dory.chat.signals import Signals
from dory.errors import DoryError
from dory.identity.listing import AgentInfo
from dory.process.jobs import Job
from dory.types import Line

_BACKLOG = 20
_PAUSE = 0.1
_GRACE = 3.0
"""Seconds in which prompt and look-out put away what they use, before they are broken off."""
_COLOURS = (
    "cyan",
    "green",
    "yellow",
    "magenta",
    "blue",
    "bright_cyan",
    "bright_green",
    "bright_yellow",
    "bright_magenta",
    "bright_blue",
)
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

T = TypeVar("T")


def run(visit: Session, signals: Signals) -> None:
    """Show the room and let the person write, until Ctrl-D, Ctrl-C on an empty line, or a signal. A
    closed terminal is noted as one.
    """
    with signals.obeyed_at_once():
        backlog, listeners = visit.last(_BACKLOG), visit.listeners()
    try:
        asyncio.run(Screen(visit, signals, listeners).run(backlog))
    except OSError:
        if sys.stdin.isatty():
            raise
    if not sys.stdin.isatty():
        signals.note(signal.SIGHUP)


class Screen:
    """One visit as it is seen."""

    def __init__(self, visit: Session, signals: Signals, listeners: Sequence[AgentInfo]) -> None:
        self._visit = visit
        self._signals = signals
        self._listeners = listeners
        self._console = Console(force_terminal=True, highlight=False)
        self._editor = editor(visit.home / "chats" / ".history", self._sign)

    async def run(self, backlog: Sequence[Line]) -> None:
        """Prompt and look-out together; an error of either ends the visit and is raised."""
        for line in backlog:
            self._show(line)
        if not self._listeners:
            self._tell(self._visit.absence())
        with patch_stdout(raw=True):
            tasks = [
                asyncio.create_task(part)
                for part in (self._prompt(), self._look_out(), self._await_signal())
            ]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            with suppress(
                TimeoutError
            ):  # the prompt waits for what is being printed, which a closed terminal never takes
                await asyncio.wait_for(asyncio.gather(*pending, return_exceptions=True), _GRACE)
        for task in done:
            task.result()

    async def _prompt(self) -> None:
        unsaid = ""
        while True:
            try:
                text = await self._editor.prompt_async(
                    default=unsaid, handle_sigint=False, set_exception_handler=False
                )
            except EOFError:
                return
            unsaid = ""
            if text.strip():
                try:
                    await _beside(
                        partial(self._visit.say, text.encode("utf-8", "replace").decode())
                    )
                except DoryError as error:
                    self._tell(str(error))
                    unsaid = text

    async def _await_signal(self) -> None:
        """Until a signal comes or the terminal is closed. Ctrl-C is a signal while a message is
        being printed, and a key like others.
        """
        typed = self._editor.default_buffer
        while sys.stdin.isatty():
            if self._signals.number == signal.SIGINT and typed.text:
                self._signals.forget()
                typed.reset()
                self._editor.app.invalidate()
            elif self._signals.number:
                return
            await asyncio.sleep(_PAUSE)

    async def _look_out(self) -> None:
        while True:
            lines, listeners = await _beside(lambda: (self._visit.heard(), self._visit.listeners()))
            for line in lines:
                self._show(line)
            self._notice_who_left(listeners)
            if listeners != self._listeners or any(one.awake for one in listeners):
                self._listeners = listeners
                self._editor.app.invalidate()
            await asyncio.sleep(_PAUSE)

    def _notice_who_left(self, listeners: Sequence[AgentInfo]) -> None:
        names = {one.name for one in listeners}
        for one in self._listeners:
            if one.name not in names:
                self._tell(f"{one.name} does not listen any more; what you write waits in the room")

    def _sign(self) -> str:
        """The bar below the prompt."""
        thinking = [visible(one.name) for one in self._listeners if one.awake]
        if thinking:
            frame = _SPINNER[int(time.monotonic() / _PAUSE) % len(_SPINNER)]
            return f"{frame} {', '.join(thinking)} {'is' if len(thinking) == 1 else 'are'} thinking"
        names = ", ".join(visible(one.name) for one in self._listeners)
        return f"{self._visit.room} · {names or 'nobody'} {'listen' if len(self._listeners) > 1 else 'listens'} · Ctrl-D leaves"

    def _show(self, line: Line) -> None:
        """A message: who and when on one line, the text below it."""
        text = visible(line.text)
        quiet = line.kind == "NOTICE"
        name = Text(
            visible(line.name),
            style="dim" if quiet else f"bold {_COLOURS[crc32(line.name.encode()) % len(_COLOURS)]}",
        )
        head = name.append(f" {_when(line.at)}", style="not bold dim default")
        body = _markdown(text) if line.kind == "AGENT" else coloured(text) if quiet else Text(text)
        self._print(
            Group(head, Padding(body, (0, 0, 0, 2), expand=False))
        )  # in one piece, or the prompt may come in between

    def _tell(self, text: str) -> None:
        self._print(Text(visible(text), style="dim italic"))

    def _print(self, content: RenderableType) -> None:
        """Only here text reaches the terminal. It is cleaned after the layout, for markdown can
        spell any character as an entity.
        """
        laid_out = self._console.render(content)
        self._console.print(
            Segments([Segment(visible(part.text), part.style) for part in laid_out]), end=""
        )


def _markdown(text: str) -> Markdown:
    """An agent's text as it meant it: line breaks and ``<tags>`` stay, links are written out, for
    one may show an address and open another.
    """
    body = Markdown("", hyperlinks=False)
    body.parsed = (
        MarkdownIt("commonmark", {"html": False})
        .enable(["strikethrough", "table"])
        .parse(text.replace("\n", "  \n"))
    )
    return body


def _when(at: str) -> str:
    """A line's time as a clock on the wall shows it, with the date unless it is today's."""
    try:
        local = datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return visible(at)
    today = local.date() == datetime.now().date()
    return f"{local:%H:%M}" if today else local.replace(tzinfo=None).isoformat(" ", "minutes")


async def _beside(function: Callable[[], T]) -> T:
    """What ``function`` returns. It runs in a daemon thread, so neither typing nor leaving ever
    waits for a disk.
    """
    job = Job(function, "room")
    while not job.done:
        await asyncio.sleep(_PAUSE / 10)
    return job.result()
