"""The picture: for each limit a panel without RECALL and one with it, for each way what it can
still answer over what it costs. Plain SVG.
"""

from collections.abc import Sequence
from html import escape

from bench.forgetting.report import Row

WIDTH, HEIGHT, LEFT, TOP, GAP = 280, 260, 56, 64, 64
"""Of a panel, in pixels; beside and above the first; between two, side by side or one above the
other.
"""
COLOURS = {
    "dory": "#1f6feb",
    "one-call": "#0a7ea4",
    "halving": "#8250df",
    "window": "#bc4c00",
    "summary": "#1a7f37",
    "truncation": "#cf222e",
}


def plot(rows: Sequence[Row]) -> str:
    """The SVG for the rows of ``report.mean_rows``. Full dots count all that was answered, rings
    only what stood in the context. Where a price is not known, tokens stand in its place.
    """
    limits, both = sorted({row["limit"] for row in rows}), sorted({row["recall"] for row in rows})
    cost, unit, by = (
        ("tokens", "M", 1e6) if any(row["price"] is None for row in rows) else ("price", "$", 1)
    )
    dots = [{**row, "cost": row[cost] / by} for row in rows]
    panels = list[str]()
    for column, limit in enumerate(limits):
        most = max(dot["cost"] for dot in dots if dot["limit"] == limit) * 1.25 or 1.0
        for line, recall in enumerate(both):
            own = [dot for dot in dots if (dot["limit"], dot["recall"]) == (limit, recall)]
            panels.append(
                _panel(own, most, unit, LEFT + column * (WIDTH + GAP), TOP + line * (HEIGHT + GAP))
            )
    width, height = LEFT + len(limits) * (WIDTH + GAP), TOP + len(both) * (HEIGHT + GAP)
    title = text(LEFT, 22, f"Facts answered, over the {cost} of the whole life", size=15)
    key = text(
        LEFT,
        42,
        "dot: answered in all   ring: directly, without opening or searching anything  "
        " line: what opening and searching add",
    )
    return drawing(width, height, [title, key, *panels])


def drawing(width: float, height: float, parts: Sequence[str]) -> str:
    """The SVG of these parts, on white; sizes in pixels."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


def text(
    x: float, y: float, text: str, size: int = 11, anchor: str = "start", colour: str = "#333"
) -> str:
    """A line of text; ``y`` is its foot."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _panel(rows: Sequence[Row], most: float, unit: str, left: float, top: float) -> str:
    bottom = top + HEIGHT
    drawn = [
        f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#ccc"/>'
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - share * HEIGHT
        drawn.append(
            f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#eee"/>'
            + text(left - 6, y + 4, f"{share:.0%}", anchor="end")
        )
    for part in (0, 0.5, 1):
        drawn.append(
            text(left + part * WIDTH, bottom + 16, f"{part * most:.2f} {unit}", anchor="middle")
        )
    caption = f"limit {rows[0]['limit']:,} tokens, with{'' if rows[0]['recall'] else 'out'} RECALL"
    drawn.append(text(left + WIDTH / 2, bottom + 36, caption, anchor="middle"))
    for row in rows:
        drawn.append(_way(row, left + WIDTH * row["cost"] / most, bottom))
    return "\n".join(drawn)


def _way(row: Row, x: float, bottom: float) -> str:
    colour, high, low = (
        COLOURS[row["way"]],
        bottom - HEIGHT * row["answered"],
        bottom - HEIGHT * row["direct"],
    )
    line = f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{colour}" stroke-width="2"/>'
    ring = (
        f'<circle cx="{x:.1f}" cy="{low:.1f}" r="5" fill="white" stroke="{colour}" '
        'stroke-width="2"/>'
    )
    dot = (
        f'<circle cx="{x:.1f}" cy="{high:.1f}" r="5" fill="{colour}"/>'
        if high < low - 1
        else ring.replace("white", colour)
    )
    return line + ring + dot + text(x + 9, high - 6, row["way"], colour=colour)
