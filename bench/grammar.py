"""What a grammar does for a small model: ``python -m bench.grammar model.gguf``.

The model is run here by llama.cpp. To each of some first messages a new agent gets one answer
without a grammar and one with it, at the model's own temperature. An answer is *right* if it has
tool lines and none is wrong, and *heard* if one of them speaks in the room in which the person
waits. The agent has the core tools only, so that the prompt is soon read. Exit code 0, 2 after a
one-line error, 130 after Ctrl-C.
"""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from agent import Agent
from bench.common import running
from dory.cli import local_model
from dory.clock import utc
from dory.config.profiles import LOCAL
from dory.config.settings import Config
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm.completions import Endpoint
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.storage.rooms import Rooms
from dory.text.formatting import table

ROOM = "dev"
MODES = ("off", "auto")
SAID = (
    "hello",
    "what can you do?",
    "my sister is called Mia",
    "please remember that I like tea",
    "which room are we in?",
    "read MEMORY.md",
    "what is two and two?",
    "good night",
)
LONGEST = 60
"""Tokens of an answer."""


def measure(path: Path, home: Path) -> dict[str, dict[str, float]]:
    """For each mode the answers, those that are right, those that are heard, and their seconds."""
    settings = Config(model=str(path), base_url=LOCAL, extensions="", max_tokens=LONGEST)
    found = {mode: dict.fromkeys(("answers", "right", "heard", "seconds"), 0.0) for mode in MODES}
    with local_model.served(settings, home) as served:
        for number, text in enumerate(SAID):
            agent = _spoken_to(home / str(number), served, text)
            prompt = agent.prompts.build()
            for mode in MODES:
                reply = Endpoint(replace(served, grammar=mode)).complete(prompt, "turn")
                calls = agent.tool_runner.parse(reply.text, reply.cut).calls
                right = bool(calls) and not any(call.error for call in calls)
                heard = any(
                    call.tool == "SAY" and not call.error and call.named[0] == ROOM
                    for call in calls
                )
                sums = found[mode]
                sums["answers"] += 1
                sums["right"] += right
                sums["heard"] += heard
                sums["seconds"] += reply.usage.seconds
    return found


def _spoken_to(home: Path, settings: Config, text: str) -> Agent:
    """A new agent to which a person has said ``text``."""
    me = Identity(home, boot(home, "dory", ROOM, utc), utc)
    me.begin()
    agent = Agent(me, settings, OfflineModel(), verbose=False, stop=ShutdownSignal())
    Rooms(home / "chats").say(ROOM, "USER", "ada", text, utc())
    agent.inbox.receive()
    return agent


@running.measurement("bench.grammar", "What a grammar does for a small model in a .gguf file.")
@click.argument("model", type=click.Path(path_type=Path))
def main(model: Path, print_json: bool) -> int:
    """Measure it in homes that go with it."""
    with tempfile.TemporaryDirectory(prefix="dory-grammar-") as home:
        found = measure(model, Path(home))
    rows = [
        (mode, *(f"{sums[name]:,.0f}" for name in ("answers", "right", "heard", "seconds")))
        for mode, sums in found.items()
    ]
    print(table([("grammar", "answers", "right", "heard", "seconds"), *rows]))
    if print_json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    running.run("bench.grammar", main)
