"""Which lines are commands. Pure."""

import re

_PATH = re.compile(r"/\S*(?:/|\.\w)")
"""A word that holds another slash, or a full stop in its middle."""


def is_command(text: str) -> bool:
    """Whether ``text`` is meant as a command, known or not: its first word begins with a slash and
    is no path. "/home/ada/x.txt is broken", "/x.txt" and "// so" are messages.
    """
    return text.startswith("/") and not _PATH.match(text)
