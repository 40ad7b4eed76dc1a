"""What was said in a fortnight, and what became of both, as a document for people."""

import re
from collections.abc import Iterator
from itertools import groupby

from bench.fortnight.living import IRIS, LIMIT, OTTO, ROOM, Fortnight
from dory.extensions.soul.store import Beliefs
from dory.text import formatting
from dory.types import Line

_SHOWN = 160
"""Characters of a line in the transcript."""
_OPENING = """# A fortnight of two agents

Iris keeps a lighthouse, Otto the harbour below it. For two weeks both live in one room, `{room}`,
with Ada and Ben: they meet, quarrel, make up, share their memories, dream, and care for themselves.
What people say is in `bench/fortnight/fortnight.md`; the rest is the agents' own.
They run all extensions as shipped, on the offline model, which does what it is told and quotes what
it knows, and with a context of {limit:,} tokens, so that it is compacted often. They dream when Ada
asks for it, and not every two hours. The clock is simulated. The digits behind the agents' names
are left out.

    python -m bench.fortnight     # lives it again, checks the claims, and writes this page
"""
_QUESTIONS = (
    ("What they remember", "memories"),
    ("What they wrote down", "diary"),
    ("What others are to them", "relationships"),
    ("Whose memories they took over", "links"),
    ("How MEMORY.md and USER.md came about, by themselves and by their Dreams", "dream-restore"),
)


def page(fortnight: Fortnight) -> str:
    """All of it."""
    opening = _OPENING.format(room=ROOM, limit=LIMIT)
    return "\n".join(
        [
            opening,
            "## What was said",
            "",
            *_transcript(fortnight),
            "## What became of them",
            "",
            *_state(fortnight),
        ]
    )


def figures(fortnight: Fortnight) -> dict[str, int]:
    """How much it was."""
    said = [line for line in fortnight.heard() if line.kind != "NOTICE"]
    turns = sum(agent.me.state.turn for agent in fortnight.agents.values())
    return {"days": len(fortnight.days), "said": len(said), "turns": turns}


def _transcript(fortnight: Fortnight) -> Iterator[str]:
    """By day. Where both agents answer alike they stand in one line; what a person dictated is told
    by its answer.
    """
    heard, short = (
        fortnight.heard(),
        {full: name.capitalize() for name, full in fortnight.names.items()},
    )
    days = {day.said[0].at.date().isoformat(): day.heading for day in fortnight.days}
    for date, lines in groupby(heard, key=lambda line: line.at[:10]):
        yield from (f"### {days[date]}", "")
        for (clock, text), group in groupby(lines, key=lambda line: (line.at[11:16], line.text)):
            speakers = list(group)
            yield (
                f"- {clock} {' and '.join(_who(line, short) for line in speakers)}: "
                f"{_shown(text, fortnight)}"
            )
        yield ""


def _who(line: Line, short: dict[str, str]) -> str:
    name = short.get(line.name, line.name.capitalize())
    return f"*the harness of {name}*" if line.kind == "NOTICE" else f"**{name}**"


def _shown(text: str, fortnight: Fortnight) -> str:
    """One line; of many dictated ones the first and the last."""
    first, *rest = text.split("\n")
    if len(rest) > 2:
        first, rest = " / ".join([first, rest[0]]), [f"… {len(rest) - 2} more …", rest[-1]]
    joined = " / ".join([first, *rest])
    return formatting.one_line(_short(joined, fortnight), 2 * _SHOWN)


def _short(text: str, fortnight: Fortnight) -> str:
    """Without the digits behind the agents' names; columns keep their width."""
    for name, full in fortnight.names.items():
        digits = full.removeprefix(name)
        text = text.replace(f"{digits}  ", f"{' ' * len(digits)}  ").replace(digits, "")
        text = re.sub(rf"\b{name}-[0-9a-f]*…", f"{name}…", text)
    return text


def _state(fortnight: Fortnight) -> Iterator[str]:
    yield from ("### What they believe", "")
    for name, agent in fortnight.agents.items():
        yield from _answer(
            f"{name.capitalize()}, in `soul.json`",
            "\n".join(belief.text for belief in Beliefs(agent.me.folder).entries),
        )
    for title, command in _QUESTIONS:
        yield from (f"### {title}", "")
        for name in (IRIS, OTTO):
            yield from _answer(
                f"{name.capitalize()}: `/{command}`", _asked(fortnight, name, command)
            )
    yield from ("### How it came about", "")
    yield from _answer(
        f"`/relationships {OTTO}`, asked of Iris", _asked(fortnight, IRIS, "relationships", OTTO)
    )
    yield from (
        "As a picture, `/relationships graph`:",
        "",
        "```mermaid",
        _asked(fortnight, IRIS, "relationships", "graph"),
        "```",
        "",
    )
    for name, agent in fortnight.agents.items():
        state = agent.me.state
        yield (
            f"{name.capitalize()} is {state.mood} and at {state.place}, after {state.turn} "
            f"turns and {state.epoch} epochs."
        )


def _asked(fortnight: Fortnight, name: str, command: str, argument: str = "") -> str:
    return _short(fortnight.command(name, command, argument), fortnight)


def _answer(title: str, text: str) -> Iterator[str]:
    yield from (title, "", *(f"    {line}" for line in text.splitlines()), "")
