"""What an ordinary self puts into each prompt: ``python -m bench.sections``, in tokens of four
characters.

The agent is the real one, with all extensions, and has lived some months (``bench.turn.selves``):
beliefs, memories, a diary, notes, people whom it knows, and lines about them in USER.md and
MEMORY.md. ``at most`` is what a section may ever have, by its own limits; a dash where it is one
line, or grows with the context and is paid from its limit. Exit code 0, 130 after Ctrl-C.
"""

import json
import re
import tempfile
from datetime import timedelta
from pathlib import Path

from agent import Agent
from bench.common import running
from bench.store.noise import Noise
from bench.turn.homes import LINE, ROOM
from bench.turn.selves import live
from dory.clock import second, utc
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.constants import LIFE_SHOWN, MEMORY_LIMIT
from dory.extensions import NAMES, Stores
from dory.extensions.memories import extension as memories
from dory.extensions.people import conversations_extension, relationships_extension
from dory.extensions.soul import store
from dory.identity import life
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.text.formatting import CHARACTERS_PER_TOKEN, table
from dory.types import Line

PEOPLE, NOTES, LINES = 12, 10, 20
"""Whom it knows, what it noted, and lines of USER.md, of MEMORY.md, and that it has heard."""
_MOST = {
    **dict.fromkeys(("user", "voice", "memory"), MEMORY_LIMIT),
    "soul": store.LIMIT,
    "conversations": conversations_extension.MOST,
    "relationships": relationships_extension.PRESENT * relationships_extension.LINE_LIMIT,
    "memories": memories.ROOM * CHARACTERS_PER_TOKEN,
    "life": LIFE_SHOWN * life.LINE_LIMIT,
}
_SECTION = re.compile(r"^\[#([a-z]+)\b.*\n(?:(?!\[#).*\n)*", re.MULTILINE)
"""With its header; entries have numbers in theirs."""


def measure(home: Path) -> dict[str, int]:
    """Characters of each section of the first prompt after a start, and of all that stands before
    them, as ``harness``.
    """
    me = Identity(home, boot(home, "dory", ROOM, utc), utc)
    live(me)
    _known(me)
    me.begin()
    agent = Agent(
        me,
        Config(model=OFFLINE, extensions=", ".join(NAMES)),
        OfflineModel(),
        verbose=False,
        stop=ShutdownSignal(),
    )
    prompt = agent.prompts.build()
    sizes = {part[1]: len(part[0]) for part in _SECTION.finditer(prompt.text)}
    settled = sum(
        count for name, count in sizes.items() if f"\n[#{name}" in prompt.messages[0].content
    )
    return {"harness": len(prompt.messages[0].content) - settled, **sizes}


def _known(me: Identity) -> None:
    """Notes, people, and what the durable texts tell of them."""
    noise, past, began = Noise(5), Stores(me.folder, me.blobs), utc() - timedelta(days=PEOPLE)
    people = [f"person{number}" for number in range(PEOPLE)]
    lines = [
        Line(ROOM, "USER", name, second(began + timedelta(days=day)), noise.text(LINE), 0)
        for day, name in enumerate(people)
    ]
    past.dialogues.add(ROOM, lines, me.name, 0, 0, utc())
    with past.store.writing():
        for name in people:
            past.relationships.assign(
                name,
                {
                    "relationship_type": "friend",
                    "trust_level": "high",
                    "rationale": noise.text(LINE),
                },
                utc(),
            )
        for number in range(NOTES):
            past.notes.add(f"note-{number}", noise.text(LINE), "Note", utc())
    past.store.close()
    for number in range(LINES):
        me.log("heard", f"{ROOM} {people[number % PEOPLE]}: {noise.text(LINE)}")
    for file in ("USER.md", "MEMORY.md"):
        (me.folder / file).write_text(
            "".join(f"{noise.text(LINE)}\n" for _ in range(LINES)), encoding="utf-8"
        )


@running.measurement("bench.sections", "What an ordinary self puts into each prompt, by section.")
def main(print_json: bool) -> int:
    """Measure it in a home that goes with it."""
    with tempfile.TemporaryDirectory(prefix="dory-sections-") as home:
        found = {
            name: round(count / CHARACTERS_PER_TOKEN) for name, count in measure(Path(home)).items()
        }
    most = {name: f"{limit / CHARACTERS_PER_TOKEN:,.0f}" for name, limit in _MOST.items()}
    rows = [(name, f"{count:,}", most.get(name, "-")) for name, count in found.items()]
    print(table([("section", "tokens", "at most"), *rows, ("all", f"{sum(found.values()):,}", "")]))
    if print_json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    running.run("bench.sections", main)
