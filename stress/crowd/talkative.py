"""The model of all agents of a crowd, served over HTTP: at each turn an agent says its next
messages; after the last one it waits.

How many messages an agent has said is counted here. The prompt does not say it, because old entries
are compacted. So a turn that is asked for twice would skip messages, which the check would report
as lost; but nothing here gives a reason to ask twice. Compactions are answered by rule, with a few
large chunks, because as many as a real model names would take most of the time.
"""

import re
from collections import Counter

from dory.control import Control
from dory.offline.prompt_reader import read
from dory.text import tool_calls
from dory.types import Call, Prompt, Purpose, Reply, Usage
from stress.crowd.lines import ROOM, message

_MOST_AT_ONCE = 3
"""The most messages in one turn."""
_CHUNKS = 6
"""How many chunks to make of each run of entries that may be compacted."""
_ASKED = re.compile(r"^\[#(?:segment|summarise) (.+)\]$", re.MULTILINE)


class Talkative:
    """A ``Model`` that makes each agent say ``messages`` messages. An agent asks for one turn at a
    time, so its count needs no lock.
    """

    name = "talkative"

    def __init__(self, messages: int) -> None:
        self._messages = messages
        self.said: Counter[str] = Counter()
        self.turns: Counter[str] = Counter()
        """By agent: messages said, and turns asked for."""

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. Raises nothing."""
        text = {
            "turn": self._turn,
            "segment": _segment,
            "summarise": _summarise,
            "cascade": _sum_up,
            "dream": _dream,
        }[purpose](prompt)
        return Reply(text, "", Usage(purpose, self.name, 0, None, 0, 0.0))

    def left(self, agents: int) -> int:
        """How many messages are still to be said by so many agents."""
        return agents * self._messages - self.said.total()

    def _turn(self, prompt: Prompt) -> str:
        name = read(Prompt(prompt.messages[:1])).name
        said = self.said[name]
        until = min(said + 1 + self.turns[name] % _MOST_AT_ONCE, self._messages)
        self.said[name] = until
        self.turns[name] += 1
        messages = [Call("SAY", ROOM, message(name, number + 1)) for number in range(said, until)]
        return tool_calls.render(messages or [Call("WAIT")])


def _segment(prompt: Prompt) -> str:
    lines: list[str] = []
    for run in _asked(prompt).split():
        first, last = map(int, run.split("-"))
        size = (last - first) // _CHUNKS + 1
        lines += [
            f"{at}-{min(at + size - 1, last)} what was said then"
            for at in range(first, last + 1, size)
        ]
    return "\n".join(lines)


def _summarise(prompt: Prompt) -> str:
    ids = _asked(prompt)
    begin = read(prompt).named("summarise")[0][0].body.rpartition("] ")[2][:80]
    return (
        f"GIST: {begin} in {ids}\nRELEVANCE: {1 + sum(map(ord, ids)) % 10}\nSUMMARY:\n"
        f"Many spoke, from {begin} on."
    )


def _sum_up(prompt: Prompt) -> str:
    return f"Many spoke, and said {len(prompt.text)} characters. All of it was heard."


def _dream(prompt: Prompt) -> str:
    return "NOTHING"


def _asked(prompt: Prompt) -> str:
    """The ids in the header of the request that a compaction appended."""
    headers: list[str] = _ASKED.findall(prompt.messages[-1].content)
    return headers[-1]
