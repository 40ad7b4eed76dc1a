"""Command lines that complain in one line: what is wrong, and the nearest flag that exists."""

import argparse
import difflib
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that prints no usage when a word is wrong, and takes no abbreviated flags, which would hide a misspelt one."""

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(prog=prog, description=description, epilog=epilog, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line and exit with 2."""
        message = "".join(c if c.isprintable() else " " for c in message)  # it quotes words that may hold line breaks
        wrong = message.removeprefix("unrecognized arguments: ").split(" ")[0].split("=")[0]
        near = difflib.get_close_matches(wrong, self._option_string_actions, n=1) if wrong.startswith("-") else []
        hint = f"did you mean {near[0]}?" if near else "--help shows the usage"
        self.exit(2, f"{self.prog}: {message} ({hint})\n")
