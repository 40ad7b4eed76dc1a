"""The same requests as others would have sent them: the parts of each prompt in another order.

Prompts of the layout ``tail`` are taken apart at the headers that only the harness can write. Where a part stands changes nothing in the life:
the scripted model does not look at it. So a life is lived once and counted in every order.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import accumulate

from bench.cache.script import Asked
from dory.clock import Clock, second
from dory.records import Message, Prompt

_MEMORY, _LIFE, _TURN = "\n[#memory ", "\n[#life]\n", "\n[#turn]\n"
_BETWEEN = timedelta(seconds=20)
"""From one turn to the next."""

Arrangement = Callable[[Prompt, int], Prompt]
"""A prompt in another order, after so many turns were asked for: the calls of a compaction fork the prompt of the last one."""


def arranged(asked: Sequence[Asked], arrangement: Arrangement) -> list[Asked]:
    """The requests of a life in another order of their parts."""
    turns = accumulate(int(one.purpose == "turn") for one in asked)
    return [replace(one, messages=arrangement(Prompt(one.messages), turn).messages) for one, turn in zip(asked, turns, strict=True)]


def memory_first(prompt: Prompt, turn: int) -> Prompt:
    """MEMORY and the newest events in the system prompt, before all that was said."""
    system, live, memory, life, request = _parts(prompt)
    return _prompt(system + memory + life, live + request)


def memory_before_context(prompt: Prompt, turn: int) -> Prompt:
    """MEMORY alone in the system prompt."""
    system, live, memory, life, request = _parts(prompt)
    return _prompt(system + memory, live + life + request)


def clock_first(began: Clock) -> Arrangement:
    """The time of the turn, to the second, in the first line of the system prompt."""
    start = began()

    def arrangement(prompt: Prompt, turn: int) -> Prompt:
        system, user = prompt.messages
        return _prompt(f"It is {second(start + turn * _BETWEEN)}.\n\n{system.content}", user.content)

    return arrangement


def _parts(prompt: Prompt) -> tuple[str, str, str, str, str]:
    """System message, context, MEMORY, LIFE, and the request with whatever a compaction appended."""
    system, user = prompt.messages
    live, _, tail = user.content.partition(_MEMORY)
    memory, _, tail = tail.partition(_LIFE)
    life, _, request = tail.partition(_TURN)
    return system.content, live, _MEMORY + memory, _LIFE + life, _TURN + request


def _prompt(system: str, user: str) -> Prompt:
    return Prompt((Message("system", system), Message("user", user)))
