"""The client for a person: messages scroll by above an input line, and a bar below it shows who
listens and who is thinking.

A typed message is erased when it is sent and comes back as the room has it. So everything on the
screen is in the room, once and in the room's order. Three tasks of one event loop run side by side:
the prompt, the watch over the room, and the wait for a signal. Whichever ends first ends the
session. Files are read and written in daemon threads, so neither typing nor leaving waits for a
disk.

Notices are shown dim, with their diffs in colour.
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

from dory.chat.editor import editor
from dory.chat.sanitize import visible
from dory.chat.session import Session
from dory.chat.signals import Signals
from dory.errors import DoryError
from dory.identity.listing import AgentInfo
from dory.process.jobs import Job
from dory.types import Line

_HINT = "type a message and press Enter; /help lists the commands, Tab completes them"
"""What the first screen says."""
_BACKLOG = 20
"""Messages shown at the start."""
_POLL = 0.1
"""Seconds between two looks at the room or for a signal."""
_CANCEL_TIMEOUT = 3.0
"""Seconds that the cancelled tasks have to clean up."""
_NAME_COLOURS = (
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
_DIFF_BEGIN = "```diff"
_DIFF_END = "```"
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}

T = TypeVar("T")


def run(session: Session, signals: Signals) -> None:
    """Show the room and let the person write, until Ctrl-D, Ctrl-C on an empty line, or a signal. A
    closed terminal is noted in ``signals`` as a SIGHUP.
    """
    with signals.obeyed_at_once():
        backlog = session.last(_BACKLOG)
        listeners = session.listeners()
    try:
        asyncio.run(Screen(session, signals, listeners).run(backlog))
    except OSError:
        if sys.stdin.isatty():
            raise
    if not sys.stdin.isatty():
        signals.note(signal.SIGHUP)


class Screen:
    """One session at a terminal."""

    def __init__(self, session: Session, signals: Signals, listeners: Sequence[AgentInfo]) -> None:
        self._session = session
        self._signals = signals
        self._listeners = listeners
        self._console = Console(force_terminal=True, highlight=False)
        history = session.home / "chats" / ".history"
        self._editor = editor(history, self._status, session.commands)

    async def run(self, backlog: Sequence[Line]) -> None:
        """Run the three tasks until one ends. An error in any of them is raised."""
        for line in backlog:
            self._show(line)
        if not self._listeners:
            self._tell(self._session.absence())
        self._tell(_HINT)
        Job(self._session.commands, "commands")  # loaded while the person types, for the first Tab
        with patch_stdout(raw=True):
            tasks = [
                asyncio.create_task(task)
                for task in (self._prompt(), self._watch_room(), self._await_signal())
            ]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            # The prompt waits for what is being printed, which a closed terminal never takes.
            with suppress(TimeoutError):
                await asyncio.wait_for(
                    asyncio.gather(*pending, return_exceptions=True), _CANCEL_TIMEOUT
                )
        for task in done:
            task.result()

    async def _prompt(self) -> None:
        """Say what the person types, until Ctrl-D. A message that was not said is back in the
        prompt.
        """
        unsaid = ""
        while True:
            try:
                typed = await self._editor.prompt_async(
                    default=unsaid, handle_sigint=False, set_exception_handler=False
                )
            except EOFError:
                return
            unsaid = ""
            if typed.strip():
                text = typed.encode("utf-8", "replace").decode()
                try:
                    await _in_thread(partial(self._session.say, text))
                except DoryError as error:
                    self._tell(str(error))
                    unsaid = typed

    async def _await_signal(self) -> None:
        """Return when a signal comes or the terminal is closed.

        While a message is being printed, Ctrl-C arrives as a signal and not as a key. It then does
        what the key does: it clears the line, and leaves if the line is empty.
        """
        buffer = self._editor.default_buffer
        while sys.stdin.isatty():
            if self._signals.number == signal.SIGINT and buffer.text:
                self._signals.forget()
                buffer.reset()
                self._editor.app.invalidate()
            elif self._signals.number:
                return
            await asyncio.sleep(_POLL)

    async def _watch_room(self) -> None:
        while True:
            lines, listeners = await _in_thread(
                lambda: (self._session.heard(), self._session.listeners())
            )
            for line in lines:
                self._show(line)
            self._tell_who_left(listeners)
            if listeners != self._listeners or any(agent.awake for agent in listeners):
                self._listeners = listeners
                self._editor.app.invalidate()
            await asyncio.sleep(_POLL)

    def _tell_who_left(self, listeners: Sequence[AgentInfo]) -> None:
        names = {agent.name for agent in listeners}
        for agent in self._listeners:
            if agent.name not in names:
                self._tell(
                    f"{agent.name} does not listen any more; what you write waits in the room"
                )

    def _status(self) -> str:
        """The bar below the prompt."""
        thinking = [visible(agent.name) for agent in self._listeners if agent.awake]
        if thinking:
            frame = _SPINNER[int(time.monotonic() / _POLL) % len(_SPINNER)]
            verb = "is" if len(thinking) == 1 else "are"
            return f"{frame} {', '.join(thinking)} {verb} thinking"
        names = ", ".join(visible(agent.name) for agent in self._listeners)
        verb = "listen" if len(self._listeners) > 1 else "listens"
        return (
            f"{self._session.room} · {names or 'nobody'} {verb} · /help lists the commands · "
            "Ctrl-D leaves"
        )

    def _show(self, line: Line) -> None:
        """Print a message: name and time on one line, the text below it."""
        head = Text(visible(line.name), style=_name_style(line))
        head.append(f" {_when(line.at)}", style="not bold dim default")
        # Printed in one piece: otherwise the prompt may be drawn in between.
        self._print(Group(head, Padding(_body(line), (0, 0, 0, 2), expand=False)))

    def _tell(self, text: str) -> None:
        self._print(Text(visible(text), style="dim italic"))

    def _print(self, content: RenderableType) -> None:
        """The only way to the terminal. The text is sanitized after the layout, because markdown
        can spell any character as an entity.
        """
        segments = self._console.render(content)
        safe = [Segment(visible(segment.text), segment.style) for segment in segments]
        self._console.print(Segments(safe), end="")


def _name_style(line: Line) -> str:
    if line.kind == "NOTICE":
        return "dim"
    colour = _NAME_COLOURS[crc32(line.name.encode()) % len(_NAME_COLOURS)]
    return f"bold {colour}"


def _body(line: Line) -> RenderableType:
    text = visible(line.text)
    if line.kind == "AGENT":
        return _markdown(text)
    if line.kind == "NOTICE":
        return _notice(text)
    return Text(text)


def _notice(text: str) -> Text:
    """The text of a notice, with the lines of its diffs in colour. A diff stands between a line
    ```` ```diff ```` and a line ```` ``` ````.
    """
    shown = Text(style="dim")
    in_diff = False
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        if bare == _DIFF_BEGIN:
            in_diff = True
        elif bare == _DIFF_END:
            in_diff = False
        colour = _DIFF_COLOURS.get(line[0]) if in_diff else None
        shown.append(line, style=f"not dim {colour}" if colour else "")
    return shown


def _markdown(text: str) -> Markdown:
    """An agent's text. Line breaks and ``<tags>`` stay. Links are written out, because a link may
    show one address and open another.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    body = Markdown("", hyperlinks=False)
    body.parsed = parser.parse(text.replace("\n", "  \n"))
    return body


def _when(at: str) -> str:
    """The time of a message in local time, with the date unless it is today. A time that cannot be
    read is shown as it is.
    """
    try:
        local = datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return visible(at)
    if local.date() == datetime.now().date():
        return f"{local:%H:%M}"
    return local.replace(tzinfo=None).isoformat(" ", "minutes")


async def _in_thread(function: Callable[[], T]) -> T:
    """What ``function`` returns when it runs in a daemon thread."""
    job = Job(function, "room")
    while not job.done:
        await asyncio.sleep(_POLL / 10)
    return job.result()
