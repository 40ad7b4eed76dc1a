"""The picture: the size of prompts and of their parts over the events of a life, once without
turns, once in the real loop. Plain SVG.
"""

from collections.abc import Callable, Sequence

from bench.cascade.life import Size
from bench.forgetting.plot import drawing, text

WIDTH, HEIGHT, LEFT, TOP, GAP = 720, 280, 64, 64, 84
"""Of a panel, in pixels; beside and above the first; between the two. The names stand to the right.
"""
NAMES = 150
STEPS = 5
"""From the bottom of a panel to its top, and from its left to its right."""
ROUND = 500
"""Tokens: a step to the top is a multiple of them."""
POINTS = 500
"""Of a line, at most."""
LINES: dict[str, tuple[str, Callable[[Size], int]]] = {
    "whole prompt": ("#1f6feb", lambda size: size.whole),
    "context": ("#6e7781", lambda size: size.context),
    "LIFE, word for word": ("#bc4c00", lambda size: size.life + size.window),
    "system part": ("#1a7f37", lambda size: size.system),
    "both summaries": ("#8250df", lambda size: size.summaries),
}
"""Each with its colour and what it shows."""
BY_EVENTS = ("whole prompt", "LIFE, word for word", "system part", "both summaries")
IN_THE_LOOP = ("whole prompt", "context", "LIFE, word for word", "system part")


def plot(by_events: Sequence[Size], life_tokens: int, in_the_loop: Sequence[Size]) -> str:
    """The SVG. ``life_tokens`` is what all of LIFE has come to in the first life; its line leaves
    the picture early.
    """
    title = text(LEFT, 22, "Tokens of a prompt over a whole life, four characters each", size=15)
    first = _panel(by_events, BY_EVENTS, TOP, "events only; the context stays as it is")
    second = _panel(
        in_the_loop,
        IN_THE_LOOP,
        TOP + HEIGHT + GAP,
        "in the real loop; the context fades at its limit",
    )
    end = _most(by_events) / life_tokens
    all_of_it = _line([(0, 0), (end, 1)], TOP, "#cf222e", dashed=True)
    caption = text(
        LEFT + end * WIDTH + 8,
        TOP + 14,
        f"all of LIFE: {life_tokens:,} in the end",
        colour="#cf222e",
    )
    return drawing(
        LEFT + WIDTH + NAMES,
        TOP + 2 * HEIGHT + GAP + 48,
        [title, *first, all_of_it, caption, *second],
    )


def _panel(sizes: Sequence[Size], names: Sequence[str], top: float, title: str) -> list[str]:
    last, most = sizes[-1].events, _most(sizes)
    drawn = [
        text(LEFT, top - 10, title),
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#ccc"/>',
    ]
    for step in range(STEPS + 1):
        share = step / STEPS
        drawn.append(f'<path d="M{LEFT} {_y(share, top):.1f}h{WIDTH}" stroke="#eee"/>')
        drawn.append(text(LEFT - 6, _y(share, top) + 4, f"{share * most:,.0f}", anchor="end"))
        drawn.append(
            text(LEFT + share * WIDTH, top + HEIGHT + 16, f"{share * last:,.0f}", anchor="middle")
        )
    drawn.append(text(LEFT + WIDTH / 2, top + HEIGHT + 36, "events", anchor="middle"))
    for number, name in enumerate(names):
        colour, tokens = LINES[name]
        points = [
            (size.events / last, tokens(size) / most) for size in sizes[:: 1 + len(sizes) // POINTS]
        ]
        drawn += [
            _line(points, top, colour),
            text(LEFT + WIDTH + 8, top + 12 + 18 * number, name, colour=colour),
        ]
    return drawn


def _most(sizes: Sequence[Size]) -> float:
    """The top of a panel, in tokens."""
    return STEPS * ROUND * (1 + max(size.whole for size in sizes) // (STEPS * ROUND))


def _line(
    points: Sequence[tuple[float, float]], top: float, colour: str, dashed: bool = False
) -> str:
    """Through points given as shares of the panel."""
    path = " ".join(f"{LEFT + x * WIDTH:.1f},{_y(y, top):.1f}" for x, y in points)
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}"{dashes}/>'


def _y(share: float, top: float) -> float:
    return top + (1 - share) * HEIGHT
