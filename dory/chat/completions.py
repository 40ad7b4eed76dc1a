"""The lines of a chat that the harness answers, not an agent."""

from collections.abc import Callable, Collection

Commands = Callable[[], Collection[str]]
"""The commands that there are, each as it is typed: ``/help``, ``@memory-status``. It may be slow
when it is called first.
"""


def answered(text: str, commands: Commands) -> bool:
    """Whether the harness answers this line, which is not blank. It answers any slash, since it
    also tells of a command that does not exist; other lines with an ``@`` may name people.
    """
    return text.startswith("/") or (text.startswith("@") and text.split()[0] in commands())
