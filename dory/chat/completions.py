"""The lines of a chat that the harness answers, not an agent."""

from collections.abc import Callable, Collection

from dory.text import slash

Commands = Callable[[], Collection[str]]
"""The commands that there are, each as it is typed: ``/help``, ``@memory-status``. It may be slow
when it is called first.
"""

LEAVING = ("/quit", "/exit")
"""What leaves the chat. The client itself does so; no agent hears of it."""


def answered(text: str, commands: Commands) -> bool:
    """Whether the harness answers this line, which is not blank. It also answers a command that
    does not exist; other lines with an ``@`` may name people.
    """
    return slash.is_command(text) or (text.startswith("@") and text.split()[0] in commands())
