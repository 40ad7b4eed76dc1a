"""The client for a person: messages scroll by above an input line. What agents are writing stands
between them, and a bar below says what they do, or who listens.

A typed message is erased when it is sent and comes back as the room has it. So everything on the
screen is in the room, once and in the room's order. Text that is being written is shown until its
message is in the room. Three tasks of one event loop run side by side: the prompt, the watch over
the room, and the wait for a signal. Whichever ends first ends the session. Files are read and
written in daemon threads, so neither typing nor leaving waits for a disk.
"""

import asyncio
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from dory.chat import live_view, render
from dory.chat.completions import LEAVING
from dory.chat.editor import editor
from dory.chat.session import Session
from dory.chat.signals import Signals
from dory.chat.watch import BUSY, IDLE, News, Watch
from dory.errors import DoryError
from dory.identity.listing import AgentInfo
from dory.process.jobs import Job
from dory.text.characters import visible
from dory.types import Line

_HINT = "type a message and press Enter; /help lists the commands, Tab completes them"
"""What the first screen says where nobody listens."""
_GREETING = (
    "say hello, or ask it to remember something, and press Enter;"
    " /help lists the commands, Tab completes them"
)
"""What it says otherwise."""
_BACKLOG = 20
"""Messages shown at the start."""
_SETTLED = 0.5
"""Seconds after the first prompt until what it did without is loaded."""
_CANCEL_TIMEOUT = 3.0
"""Seconds that the cancelled tasks have to clean up."""
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

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
        self._now = News((), listeners, ())
        self._said: dict[str, str] = {}
        self._watch = Watch(session, listeners)
        self._console = Console(force_terminal=True, highlight=False)
        history = session.home / "chats" / ".history"
        self._editor = editor(history, self._above, self._status, session.commands, session.redact)

    async def run(self, backlog: Sequence[Line]) -> None:
        """Run the three tasks until one ends. An error in any of them is raised."""
        for line in backlog:
            self._show(line)
        if names := [agent.name for agent in self._now.listeners]:
            here = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} here"
            self._tell(f"{here}: {_GREETING}")
        else:
            self._tell(self._session.absence())
            self._tell(_HINT)
        Job(self._load_rest, "imports")
        with patch_stdout(raw=True):
            tasks = [
                asyncio.create_task(task)
                for task in (self._prompt(), self._watch_room(), self._await_signal())
            ]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            self._watch.closed = True
            for task in pending:
                task.cancel()
            # The prompt waits for what is being printed, which a closed terminal never takes.
            with suppress(TimeoutError):
                await asyncio.wait_for(
                    asyncio.gather(*pending, return_exceptions=True), _CANCEL_TIMEOUT
                )
        for task in done:
            task.result()

    def _load_rest(self) -> None:
        """Load what only Tab and messages need, while the person types."""
        self._session.redact("")
        time.sleep(_SETTLED)
        render.load_markdown()
        self._session.commands()

    async def _prompt(self) -> None:
        """Say what the person types, until Ctrl-D or ``/quit``. A message that was not said is back
        in the prompt.
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
            if typed.strip() in LEAVING:
                return
            if typed.strip():
                text = typed.encode("utf-8", "replace").decode()
                try:
                    await _in_thread(partial(self._session.say, text))
                    if self._session.wake:
                        Job(self._session.wake, "wake")
                except DoryError as error:
                    self._tell(str(error))
                    unsaid = typed

    async def _await_signal(self) -> None:
        """Return when a signal comes or the terminal is closed.

        While a message is being printed, Ctrl-C arrives as a signal and not as a key. It then does
        what the key does: it clears the line, and leaves if the line is empty.
        """
        buffer = self._editor.default_buffer
        while True:
            await _in_thread(self._asked_to_end)
            if self._signals.number != signal.SIGINT or not buffer.text:
                return
            self._signals.forget()
            buffer.reset()
            self._editor.app.invalidate()

    def _asked_to_end(self) -> None:
        """Wait until a signal comes or the terminal is closed. A thread that sleeps takes less of
        the processor than a loop that is woken.
        """
        while sys.stdin.isatty() and not (self._signals.number or self._watch.closed):
            time.sleep(IDLE)

    async def _watch_room(self) -> None:
        while True:
            news = await _in_thread(self._watch.next)
            for line in news.lines:
                self._show(line)
                self._said[line.name] = line.text
            at_work = {live.name for live in news.lives if live.text}
            # once a record is gone, its agent may begin the same message anew
            self._said = {name: text for name, text in self._said.items() if name in at_work}
            self._tell_who_left(news.listeners)
            before, lives = self._now, live_view.unsaid(news.lives, self._said)
            self._now = News((), news.listeners, lives)
            if self._now != before or live_view.doings(lives, self._now.awake):
                self._editor.app.invalidate()

    def _tell_who_left(self, listeners: Sequence[AgentInfo]) -> None:
        names = {agent.name for agent in listeners}
        then = "waits in the room"
        if self._session.wake and not names:
            then = "starts it again"
        for agent in self._now.listeners:
            if agent.name not in names:
                self._tell(f"{agent.name} does not listen any more; what you write {then}")

    def _above(self) -> StyleAndTextTuples:
        """What is being written, above the input line."""
        size = shutil.get_terminal_size()
        shown: StyleAndTextTuples = []
        for live, rows in live_view.rows_of(self._now.lives, size.columns, size.lines):
            shown.append((f"bold {_ansi(render.colour(live.name))}", f"{visible(live.name)}\n"))
            shown += [("", f"{row}\n") for row in rows]
        return shown

    def _status(self) -> str:
        """The bar below the prompt."""
        columns = shutil.get_terminal_size().columns
        if doing := live_view.doings(self._now.lives, self._now.awake):
            frame = _SPINNER[int(time.monotonic() / BUSY) % len(_SPINNER)]
            return f"{frame} {doing}"
        names = ", ".join(visible(agent.name) for agent in self._now.listeners)
        verb = "listen" if len(self._now.listeners) > 1 else "listens"
        parts = [
            (3, self._session.room),
            (0, f"{names or 'nobody'} {verb}"),
            (2, "/help lists the commands"),
            (1, "Ctrl-D leaves"),
        ]
        return live_view.fitting(parts, columns)

    def _show(self, line: Line) -> None:
        """Print a message in one piece: otherwise the prompt may be drawn in between."""
        self._print(render.message(line))

    def _tell(self, text: str) -> None:
        self._print(Text(visible(text), style="dim italic"))

    def _print(self, content: RenderableType) -> None:
        """The only way to the terminal. The text is sanitized after the layout, because markdown
        can spell any character as an entity.
        """
        segments = self._console.render(content)
        safe = [Segment(visible(segment.text), segment.style) for segment in segments]
        self._console.print(Segments(safe), end="")


def _ansi(colour: str) -> str:
    """The name that the editor has for a colour of ``rich``."""
    return f"ansi{colour.replace('_', '')}"


async def _in_thread(function: Callable[[], T]) -> T:
    """What ``function`` returns when it runs in a daemon thread."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def run() -> T:
        try:
            return function()
        finally:
            with suppress(RuntimeError):  # nobody waits any more: the loop is closed
                loop.call_soon_threadsafe(ended.set)

    job = Job(run, "room")
    await ended.wait()
    return job.result()
