"""A whole life as a transcript: ``python -m bench.demo``. It takes some seconds, asks nothing and
leaves nothing behind. ``--svg FILE`` also draws the transcript; the README shows that picture.

A person tells an agent a few things (``demo.md``). Then she talks about other things until the
first ones have left the agent's context. She asks for two details that are nowhere in its prompt
any more; before the second one, the agent is killed and resumed. Every claim is checked.

Exit code: 0 if every step came true, 1 with the step that did not, 130 after Ctrl-C.
"""

import io
import json
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import click

from bench.common import running
from bench.common.household import Household
from dory.errors import DoryError
from dory.text import formatting

LIMIT = 2000
"""Tokens of context; a real agent has 40,000."""
COMPACTIONS = 3
"""Ada talks until there were so many; ``demo.md`` has more text than that takes."""
_SCRIPT = Path(__file__).with_name("demo.md")
_WIDTH = 92
_COMPACTION = "~ ~ ~ compaction"
_STYLES = (
    (re.compile(r"\d\. |All of it"), "bold yellow"),
    (re.compile(r"Ada:"), "cyan"),
    (re.compile(r"Dory:"), "green"),
    (re.compile(_COMPACTION), "bold magenta"),
    (re.compile(r"UNCOMPACT|\[#"), "magenta"),
)
"""The picture's style of a line that begins like this."""


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
"""The demonstration asks the first question whose detail has left the prompt by then."""


class NotShown(DoryError):
    """A step of the demonstration did not come true."""


def play(house: Household) -> dict[str, int]:
    """Play the whole demo; returns its figures. Raises ``NotShown`` at the first step that
    fails.
    """
    show(f"One agent in its own process, on the offline model, with a context of {LIMIT} tokens.")
    show(
        "See what is compacted, the reference that stays, and a detail that comes back through it."
    )
    house.wake()
    facts, talk = script()
    tell(house, *facts)
    forget(house, *talk)
    heading("3. What the agent has in front of it now")
    for entry in house.entries:
        if entry.kind == "compacted":
            show(entry.text.splitlines()[0])
    show(f"and the newest talk word for word, {house.tokens} tokens in all.")
    show("Every original is in a file named by its hash.")
    heading("4. A detail from the first day")
    opened = ask(house, FROM_THE_FIRST_DAY)
    heading(f"5. kill -9 {house.pid}, then python agent.py {house.folder.name[:8]}")
    house.kill()
    house.wake()
    where = f"turn {house.state.turn}, {house.tokens} tokens of context"
    show(f"process {house.pid} goes on where the other was: {where}")
    opened += ask(house, FROM_LATER)
    heading(
        f"All of it came true: {COMPACTIONS} compactions, "
        "and two details brought back, one after a kill."
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
            show(f"      {_COMPACTION} {count}, {before} ~ ~ ~")
        if count == COMPACTIONS:
            return
    raise NotShown(f"there were {count} compactions, {COMPACTIONS} were to be shown")


def ask(house: Household, questions: Sequence[Question]) -> int:
    """Ask the first question whose detail is out of sight, and make sure that it came back; returns
    how many references were opened.
    """
    in_view = house.in_view
    question = next((question for question in questions if question.detail not in in_view), None)
    if question is None:
        raise NotShown("every detail that could be asked for still stands in the prompt")
    show(
        f"“{question.detail}” stands nowhere in its context, "
        "MEMORY.md or the lines of LIFE.md it sees."
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


class _CopyingOutput(io.StringIO):
    """Standard output that keeps a copy of what was printed."""

    def write(self, text: str) -> int:
        """Print ``text`` and keep it."""
        print(text, end="", file=sys.__stdout__, flush=True)
        return super().write(text)


def draw(transcript: str, file: Path) -> None:
    """Write the transcript as an SVG picture. It shows only the first of the messages between two
    compactions.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(
        record=True,
        width=_WIDTH + 4,
        file=io.StringIO(),
        color_system="truecolor",
        legacy_windows=False,
    )
    style = ""
    for line in _shortened(transcript.strip("\n").splitlines()):
        text = line.lstrip()
        indent = len(line) - len(text)
        new = next((name for pattern, name in _STYLES if pattern.match(text)), "")
        if new or indent < len("  Dory: "):  # the lines below a speech have its style
            style = new or "white"
        console.print(Text.assemble(" " * indent, (text, style)), no_wrap=True, overflow="ellipsis")
    picture = console.export_svg(title="make demo", unique_id="demo")
    # without fonts from the web: the reader's own monospace font will do
    picture = re.sub(r"\s*@font-face \{[^}]*\}", "", picture)
    file.write_text(picture, encoding="utf-8")


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with one line in place of all but the first of each run of talk."""
    for talk, group in groupby(lines, key=lambda line: line.startswith("  Ada: ") and "…" in line):
        shown = list(group)
        if talk and len(shown) > 1:
            shown = [shown[0], f"        … and {len(shown) - 1} more messages like this"]
        yield from shown


@running.measurement(
    "bench.demo", "A whole life in under a minute: told, forgotten, brought back, killed, resumed."
)
@click.option("--svg", type=Path, metavar="FILE", help="also draw the transcript here")
def main(svg: Path | None, print_json: bool) -> int:
    """Play it in a temporary home."""
    output = _CopyingOutput()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="dory-demo-") as home,
            Household(Path(home), LIMIT) as house,
            redirect_stdout(output),
        ):
            figures = play(house)
    except KeyboardInterrupt:
        print("bench.demo: stopped; nothing is left behind", file=sys.stderr)
        return 130
    if svg:
        draw(output.getvalue(), svg)
    if print_json:
        print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    running.run("bench.demo", main)
