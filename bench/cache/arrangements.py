"""The same requests as others would have sent them: the parts of each prompt in another order.

Prompts of the layout ``tail`` are taken apart at the headers that only the harness can write. Where
a part stands changes nothing in the life: the scripted model does not look at it. So a life is
lived once and counted in every order.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import accumulate

from bench.cache.script import Asked
from dory.clock import Clock, second
from dory.extensions.cascade.related_extension import RelatedExtension
from dory.types import Message, Prompt

_RELATED, _MEMORY, _LIFE = (
    f"\n[#{RelatedExtension.name}]\n",
    "\n[#memory ",
    "\n[#life]\n",
)
_REQUEST = re.compile(r"\n\[#turn\]\n|\n\n\[#(?:segment|summarise) ")
"""Where the request begins: for a response, or for a step of a compaction."""
_BETWEEN = timedelta(seconds=20)
"""From one turn to the next."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Of a prompt, in its order; ``related`` are past experiences like the present, ``request``
    is what a turn or a compaction asks for.
    """

    system: str
    context: str
    related: str
    memory: str
    life: str
    request: str


Arrangement = Callable[[Prompt, int], Prompt]
"""A prompt in another order, after so many turns were asked for: the calls of a compaction fork the
prompt of the last one.
"""


def arranged(asked: Sequence[Asked], arrangement: Arrangement) -> list[Asked]:
    """The requests of a life in another order of their parts; those of the cascade are plain texts
    and have none, nor have Dreams.
    """
    turns = accumulate(int(request.purpose == "turn") for request in asked)
    return [
        request
        if request.purpose in ("cascade", "dream")
        else replace(request, messages=arrangement(Prompt(request.messages), turn).messages)
        for request, turn in zip(asked, turns, strict=True)
    ]


def memory_first(prompt: Prompt, turn: int) -> Prompt:
    """MEMORY and the newest events in the system prompt, before all that was said."""
    split = parts(prompt)
    return _prompt(
        split.system + split.related + split.memory + split.life, split.context + split.request
    )


def memory_before_context(prompt: Prompt, turn: int) -> Prompt:
    """MEMORY alone in the system prompt."""
    split = parts(prompt)
    return _prompt(
        split.system + split.memory, split.context + split.related + split.life + split.request
    )


def clock_first(began: Clock) -> Arrangement:
    """The time of the turn, to the second, in the first line of the system prompt."""
    start = began()

    def arrangement(prompt: Prompt, turn: int) -> Prompt:
        system, user = prompt.messages
        return _prompt(
            f"It is {second(start + turn * _BETWEEN)}.\n\n{system.content}", user.content
        )

    return arrangement


def parts(prompt: Prompt) -> Parts:
    """What a prompt of the layout ``tail`` is made of."""
    system, user = prompt.messages
    before, _, tail = user.content.partition(_MEMORY)
    context, related, experiences = before.partition(_RELATED)
    memory, _, tail = tail.partition(_LIFE)
    request = tail[at.start() :] if (at := _REQUEST.search(tail)) else ""
    life = tail.removesuffix(request)
    return Parts(
        system.content,
        context,
        related + experiences,
        _MEMORY + memory,
        _LIFE + life,
        request,
    )


def _prompt(system: str, user: str) -> Prompt:
    return Prompt((Message("system", system), Message("user", user)))
