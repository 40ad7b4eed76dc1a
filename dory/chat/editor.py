"""The input line of the screen: keys, history, completion."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style

from dory.chat.completions import LEAVING, Commands


def editor(
    history: Path,
    above: Callable[[], StyleAndTextTuples],
    status: Callable[[], str],
    commands: Commands,
    redact: Callable[[str], str],
) -> PromptSession[str]:
    """A prompt that keeps its lines, redacted, in the file ``history``, shows the whole lines
    ``above()`` it and ``status()`` in the bar below, and completes ``commands``.
    """
    session: PromptSession[str] = PromptSession(
        lambda: [*above(), ("", "> ")],
        multiline=True,
        history=_History(history, redact),
        key_bindings=_keys(),
        completer=WordCompleter(lambda: sorted({*commands(), *LEAVING}), sentence=True),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
        bottom_toolbar=status,
        style=Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack"}),
        erase_when_done=True,
        enable_suspend=True,
    )
    session.app.terminal_size_polling_interval = None  # a signal tells of another size
    return session


class _History(FileHistory):
    """Lines typed in former sessions. A history that cannot be read is empty, and one that cannot
    be written is not kept: neither may end a session.
    """

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        super().__init__(path)
        self._redact = redact

    def load_history_strings(self) -> Iterable[str]:
        try:
            return super().load_history_strings()
        except OSError:
            return ()

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(self._redact(string))


def _keys() -> KeyBindings:
    """Enter sends. Alt-Enter, or a backslash before Enter, begins a new line. Ctrl-C clears the
    line, and leaves if it is empty.
    """
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
    def clear_or_leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=EOFError)

    return keys
