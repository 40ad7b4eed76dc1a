"""Forgetting and bringing back, told as a transcript: ``python -m bench.demo``. Asks nothing, takes
some seconds, leaves nothing behind.

A person tells an agent a few things (``demo.md``), talks with it about others until the first have
left its context, and asks for details that stand nowhere in its prompt any more, the second time
after the agent was killed and resumed. Whatever is claimed is checked. Exit code 0 if all of it
came true, 1 with the step that did not, 130 after Ctrl-C.
"""

import json
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from bench.common import running
from bench.common.household import Household
from dory.errors import DoryError
from dory.text import formatting

LIMIT = 2000
"""Tokens of context; a real agent has 40,000."""
COMPACTIONS = 3
"""So much is talked about other things; ``demo.md`` has more than it takes."""
_SCRIPT = Path(__file__).with_name("demo.md")
_WIDTH = 110


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the detail that makes an answer the right one."""

    text: str
    detail: str


FROM_THE_FIRST_DAY = (
    Question("What was the booking code for Lisbon?", "LX-7731-Q"),
    Question("Which suitcase does Tomas lend me?", "small grey suitcase"),
)
FROM_LATER = (
    Question("What did Kowalski say about the pipes?", "1961"),
    Question("How many leaves has Godzilla, the monstera?", "eleven leaves"),
    Question("How many euros was the compass with the lid?", "34 euros"),
)
"""Of each the first is asked whose detail has left the prompt by then."""


class NotShown(DoryError):
    """A step of the demonstration did not come true."""


def play(house: Household) -> dict[str, int]:
    """The whole of it; returns its figures. Raises ``NotShown`` at the first step that did not come
    true.
    """
    show(
        "One agent, a process of its own with the offline model for a model, and a "
        f"context of {LIMIT} tokens."
    )
    show(
        "Look at what fades, at the reference that stays, and at how a detail comes "
        "back through it."
    )
    house.wake()
    told, talk = script()
    tell(house, *told)
    forget(house, *talk)
    heading("3. What the agent has in front of it now")
    for entry in house.entries:
        if entry.kind == "compacted":
            show(entry.text.splitlines()[0])
    show(
        f"and the newest talk word for word, {house.tokens} tokens in all. Every "
        "original is in a file named by its hash."
    )
    heading("4. A detail from the first day")
    opened = ask(house, FROM_THE_FIRST_DAY)
    heading(f"5. kill -9 {house.pid}, then python agent.py {house.folder.name[:8]}")
    house.kill()
    house.wake()
    show(
        f"process {house.pid} goes on where the other was: turn {house.state.turn}, "
        f"{house.tokens} tokens of context"
    )
    opened += ask(house, FROM_LATER)
    heading(
        f"All of it came true: {COMPACTIONS} compactions, two details forgotten and "
        "brought back, one of them after a kill."
    )
    return {
        "compactions": COMPACTIONS,
        "details_brought_back": 2,
        "uncompacts": opened,
        "turns": house.state.turn,
        "tokens": house.tokens,
    }


def script() -> list[tuple[str, list[str]]]:
    """The parts of ``demo.md``: a heading and what the person says under it."""
    lines = [line for line in _SCRIPT.read_text(encoding="utf-8").splitlines() if line]
    parts = [list(group) for _, group in groupby(lines, key=lambda line: line.startswith("# "))]
    return [
        (title[-1].removeprefix("# "), said)
        for title, said in zip(parts[::2], parts[1::2], strict=True)
    ]


def tell(house: Household, title: str, said: list[str]) -> None:
    """Say every line, and show the answers."""
    heading(title)
    for text in said:
        show_speech("Ada", text)
        show_speech("Dory", "\n".join(house.say("Ada", text)))


def forget(house: Household, title: str, said: list[str]) -> None:
    """Talk until the context was compacted often enough."""
    heading(f"{title} (answers left out)")
    count, before = 0, house.state.last_compaction
    for text in said:
        house.say("Ada", text)
        show(formatting.one_line(f"Ada: {text}", _WIDTH))
        if house.state.last_compaction != before and house.state.last_swap:
            count, before = count + 1, house.state.last_compaction
            show(f"      ~ ~ ~ compaction {count}, {before} ~ ~ ~")
        if count == COMPACTIONS:
            return
    raise NotShown(f"there were {count} compactions, {COMPACTIONS} were to be shown")


def ask(house: Household, questions: Sequence[Question]) -> int:
    """Ask the first question whose detail is out of sight, and make sure that it came back; returns
    how many references were opened.
    """
    in_view = house.in_view
    question = next((one for one in questions if one.detail not in in_view), None)
    if question is None:
        raise NotShown("every detail that could be asked for still stands in the prompt")
    show(
        f"“{question.detail}” stands nowhere in its context, in MEMORY.md or in the "
        "part of LIFE.md that it sees."
    )
    show_speech("Ada", question.text)
    lived = len(house.life)
    answer = "\n".join(house.say("Ada", question.text))
    opened = [line.split(" ", 2)[2] for line in house.life[lived:] if " UNCOMPACT " in line]
    for line in opened:
        show(f"      {line}")
    show_speech("Dory", answer)
    require(
        any("UNCOMPACT ◱" in line for line in opened),
        f"no reference was opened for {question.text!r}",
    )
    require(
        question.detail in answer,
        f"the answer to {question.text!r} does not say {question.detail!r}",
    )
    return sum("UNCOMPACT ◱" in line for line in opened)


def require(came_true: bool, otherwise: str) -> None:
    """Raise ``NotShown`` unless it ``came_true``."""
    if not came_true:
        raise NotShown(otherwise)


def heading(text: str) -> None:
    """A new part of the transcript."""
    print(f"\n{text}", flush=True)


def show(text: str) -> None:
    """A line of it."""
    print(f"  {text}", flush=True)


def show_speech(name: str, text: str) -> None:
    """What somebody said, in full."""
    for line in textwrap.wrap(
        text, _WIDTH, initial_indent=f"{name + ':':<6}", subsequent_indent=" " * 6
    ):
        show(line)


def main() -> int:
    """Play it in a home that goes with it."""
    options = running.options(
        "bench.demo",
        "A whole life in under a minute: told, forgotten, brought back, killed, resumed.",
    )
    given = options.parse_args()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="dory-demo-") as home,
            Household(Path(home), LIMIT) as house,
        ):
            figures = play(house)
        if given.json:
            print(json.dumps(figures))
    except KeyboardInterrupt:
        print("bench.demo: stopped; nothing is left behind", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    running.run("bench.demo", main)
