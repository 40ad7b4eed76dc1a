"""The visit of a person: the room's messages scroll by above a prompt, and the bar below it tells who listens and who is thinking.

What is typed vanishes when it is sent and comes back as the room has it, so everything on the screen is in the room, once and in its order.
The prompt and the look-out are two tasks of one loop; whichever ends first ends the visit. The room is read beside that loop, so that typing
never waits for a disk.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from zlib import crc32

from markdown_it import MarkdownIt
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.text import Text

from dory.records import Line
from dory.roster import Resident
from dory.terminal.plain import visible
from dory.terminal.visit import Visit

COMMANDS = ("/help", "/status", "/context", "/show", "/uncompact", "/compact", "/undo-compaction")
"""What Tab completes; ``/help`` in a room tells what there is."""

_BACKLOG = 20
_PAUSE = 0.1
_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_yellow", "bright_magenta", "bright_blue")
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def run(visit: Visit) -> None:
    """Show the room and let the person write, until Ctrl-D, or Ctrl-C on an empty line."""
    (visit.home / "chats").mkdir(parents=True, exist_ok=True)
    asyncio.run(Screen(visit).run())


class Screen:
    """One visit as it is seen."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._console = Console(force_terminal=True, highlight=False)
        self._listeners: Sequence[Resident] = ()
        self._session: PromptSession[str] = PromptSession(
            "> ",
            multiline=True,
            history=FileHistory(str(visit.home / "chats" / ".history")),
            key_bindings=_keys(),
            completer=WordCompleter(list(COMMANDS), sentence=True),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            bottom_toolbar=self._sign,
            style=Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack"}),
            erase_when_done=True,
        )

    async def run(self) -> None:
        """Prompt and look-out together; an error of either ends the visit and is raised."""
        for line in self._visit.last(_BACKLOG):
            self._show(line)
        self._listeners = self._visit.listeners()
        if not self._listeners:
            self._tell(self._visit.absence())
        with patch_stdout(raw=True):
            tasks = [asyncio.create_task(self._prompt()), asyncio.create_task(self._look_out())]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            for task in done:
                task.result()

    async def _prompt(self) -> None:
        while True:
            try:
                text = await self._session.prompt_async()
            except EOFError:
                return
            if text.strip():
                self._visit.say(text.encode("utf-8", "replace").decode())

    async def _look_out(self) -> None:
        while True:
            lines, listeners = await asyncio.to_thread(lambda: (self._visit.heard(), self._visit.listeners()))
            for line in lines:
                self._show(line)
            self._notice_who_left(listeners)
            if listeners != self._listeners or any(one.awake for one in listeners):
                self._listeners = listeners
                self._session.app.invalidate()
            await asyncio.sleep(_PAUSE)

    def _notice_who_left(self, listeners: Sequence[Resident]) -> None:
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
        name = Text(visible(line.name), style="dim" if quiet else f"bold {_COLOURS[crc32(line.name.encode()) % len(_COLOURS)]}")
        self._print(name.append(f" {_when(line.at)}", style="not bold dim default"))
        body = _markdown(text) if line.kind == "AGENT" else Text(text, style="dim" if quiet else "")
        self._print(Padding(body, (0, 0, 0, 2), expand=False))

    def _tell(self, text: str) -> None:
        self._print(Text(visible(text), style="dim italic"))

    def _print(self, content: RenderableType) -> None:
        """Only here text reaches the terminal. It is cleaned after the layout, for markdown can spell any character as an entity."""
        laid_out = self._console.render(content)
        self._console.print(Segments([Segment(visible(part.text), part.style) for part in laid_out]), end="")


def _markdown(text: str) -> Markdown:
    """An agent's text as it meant it: line breaks and ``<tags>`` stay, links are written out, for one may show an address and open another."""
    body = Markdown("", hyperlinks=False)
    body.parsed = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).parse(text.replace("\n", "  \n"))
    return body


def _when(at: str) -> str:
    """A line's time as a clock on the wall shows it, with the date unless it is today's."""
    try:
        local = datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return visible(at)
    return f"{local:%H:%M}" if local.date() == datetime.now().date() else f"{local:%Y-%m-%d %H:%M}"


def _keys() -> KeyBindings:
    """Enter sends, Alt-Enter or a backslash before Enter begins a new line, Ctrl-C clears the line or leaves."""
    keys = KeyBindings()
    writing = has_focus(DEFAULT_BUFFER)

    @keys.add("enter", filter=writing)
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=writing)
    def begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-c", filter=writing)
    @keys.add("<sigint>")
    def clear_or_leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=EOFError)

    return keys
