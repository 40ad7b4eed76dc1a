"""What the agent has lived through before the tasks: ``past.md``, in which its own answers stand,
too. The offline model sums it up, so it is the same past for every model.
"""

from collections import deque
from pathlib import Path

from bench.fortnight.script import Day, read
from dory.control import Control
from dory.offline import OfflineModel
from dory.text import tool_calls
from dory.types import Call, Prompt, Purpose, Reply, Usage

AGENT = "Dory"
"""How the agent's own lines begin."""


class Played:
    """A ``Model`` that says what it is given to ``say`` next, and leaves all other work to the
    offline model.
    """

    name = "past"

    def __init__(self) -> None:
        self._offline = OfflineModel()
        self._answers = deque[Call]()

    def say(self, room: str, text: str) -> None:
        """Answer with ``text`` in ``room`` when asked next."""
        self._answers.append(Call("SAY", f"{room} {text}"))

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once; with WAIT when nothing was given. Raises nothing."""
        if purpose != "turn":
            return self._offline.complete(prompt, purpose, control)
        call = self._answers.popleft() if self._answers else Call("WAIT")
        return Reply(tool_calls.render([call]), "", Usage(purpose, self.name, 0, None, 0, 0.0))


def days() -> list[Day]:
    """The days of the past, in order."""
    text = Path(__file__).with_name("past.md").read_text(encoding="utf-8")
    return read(text, {AGENT.lower(): AGENT})
