"""A model that answers every message once, whatever became of its earlier answers.

A message begins with a word that people never use twice. The answer is ``SAY <room> <word> is
heard.`` A message counts as answered if a response in the context says so and no error of its last
tool line follows. The model is a pure function of the prompt. Compactions are left to the offline
model, or to ``answers``.
"""

from collections.abc import Callable

from dory.control import Control
from dory.offline import OfflineModel
from dory.offline.prompt_reader import Reading, calls, heard, read
from dory.text import tool_calls
from dory.types import Call, Prompt, Purpose, Reply

ANSWER = "is heard."


class Diligent(OfflineModel):
    """A ``Model``. ``answers`` holds by purpose a function that answers a compaction, given the ids
    in its request.
    """

    name = "diligent"

    def __init__(self) -> None:
        self.answers: dict[Purpose, Callable[[str], str]] = {}

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. Raises nothing."""
        reply = super().complete(prompt, purpose)
        if purpose in self.answers:
            return Reply(self.answers[purpose](read(prompt).sections[purpose][0]), "", reply.usage)
        if purpose == "turn":
            return Reply(tool_calls.render(_open(read(prompt)) or [Call("WAIT")]), "", reply.usage)
        return reply


def _open(reading: Reading) -> list[Call]:
    """One SAY for each message that is not answered yet."""
    left: dict[str, Call] = {}
    said: list[tuple[str, Call]] = []
    for entry in reading.entries:
        if entry.kind == "compacted":
            left.clear()  # what is older was answered, or stands in full behind the reference
        for message in heard(entry):
            mark = message.text.partition(" ")[0]
            left[mark] = Call("SAY", f"{message.room} {mark} {ANSWER}")
        if entry.kind == "response":
            said = [
                (call.args.split()[1], call) for call in calls(entry) if call.args.endswith(ANSWER)
            ]
            left = {mark: call for mark, call in left.items() if mark not in dict(said)}
        elif entry.kind == "error" and said:
            mark, call = said[-1]
            # a line that was cut off within its room is an error of another room
            if entry.about == f"{call.tool} {call.args.split()[0]}":
                left[mark] = said.pop()[1]
    return list(left.values())
