"""Dice for Dory: an extension in a package of its own, found by the entry point ``dice``."""

import random
import re
from collections.abc import Sequence
from typing import Any

from dory.errors import ToolError
from dory.turn.extension import Command, Extension, Outcome, Tool
from dory.types import Call

_DICE = re.compile(r"(\d{1,2})d(\d{1,3})")


def extensions(shared: Any) -> Sequence[Extension]:
    """What the entry point leads to. ``shared`` has the identity, the settings and the models."""
    return [DiceExtension()]


def roll(dice: str) -> str:
    """Roll dice such as ``2d6``. Raises ``ToolError``, whose text the model or the person sees."""
    match = _DICE.fullmatch(dice.strip())
    if not match or int(match[1]) < 1 or int(match[2]) < 2:
        raise ToolError(f"{dice.strip()[:20]!r} is no dice: write 2d6 for two dice of six sides")
    rolls = [random.randint(1, int(match[2])) for _ in range(int(match[1]))]
    return f"{match[0]}: {' + '.join(map(str, rolls))} = {sum(rolls)}"


class DiceExtension(Extension):
    """A tool for the agent, a command for people, and the lesson that teaches the tool."""

    name = "dice"

    def section(self) -> str:
        """The lesson, as a section of the prompt."""
        return "When a game needs dice, write ROLL_DICE and the dice, such as ROLL_DICE 2d6."

    def _roll(self, call: Call) -> Outcome:
        return Outcome(roll(call.args))

    def _answer(self, dice: str) -> str:
        return roll(dice)

    TOOLS = (Tool("ROLL_DICE 2d6", _roll),)
    COMMANDS = (Command("/dice 2d6  roll dice", _answer),)
