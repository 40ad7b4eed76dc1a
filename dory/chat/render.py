"""Messages as the screen shows them: name and time on one line, the text below it; the markdown of
agents, and the diffs of notices in colour.
"""

from datetime import datetime
from zlib import crc32

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from dory.text.characters import visible
from dory.types import Line

_NAME_COLOURS = (
    "cyan",
    "green",
    "yellow",
    "magenta",
    "blue",
    "bright_cyan",
    "bright_green",
    "bright_yellow",
    "bright_magenta",
    "bright_blue",
)
_KINDS = {"AGENT": "(agent)", "USER": "(person)", "NOTICE": "(notice)"}
"""What stands behind a name: anybody may choose a name that looks like an agent's."""
_DIFF_BEGIN = "```diff"
_DIFF_END = "```"
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def message(line: Line) -> RenderableType:
    """A message of the room, in one piece."""
    head = Text(visible(line.name), style=_name_style(line))
    kind = _KINDS.get(line.kind, "")
    head.append(f" {kind} {_when(line.at)}", style="not bold dim default")
    return Group(head, Padding(_body(line), (0, 0, 0, 2), expand=False))


def colour(name: str) -> str:
    """The colour of a speaker's name, as ``rich`` calls it."""
    return _NAME_COLOURS[crc32(name.encode()) % len(_NAME_COLOURS)]


def load_markdown() -> None:
    """Load what shows markdown. The first message of an agent does so otherwise."""
    import markdown_it
    import rich.markdown

    assert markdown_it and rich.markdown


def _name_style(line: Line) -> str:
    return "dim" if line.kind == "NOTICE" else f"bold {colour(line.name)}"


def _body(line: Line) -> RenderableType:
    text = visible(line.text)
    if line.kind == "AGENT":
        return _markdown(text)
    if line.kind == "NOTICE":
        return _notice(text)
    return Text(text)


def _notice(text: str) -> Text:
    """The text of a notice, with the lines of its diffs in colour. A diff stands between a line
    ```` ```diff ```` and a line ```` ``` ````.
    """
    shown = Text(style="dim")
    in_diff = False
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        if bare == _DIFF_BEGIN:
            in_diff = True
        elif bare == _DIFF_END:
            in_diff = False
        shade = _DIFF_COLOURS.get(line[0]) if in_diff else None
        shown.append(line, style=f"not dim {shade}" if shade else "")
    return shown


def _markdown(text: str) -> RenderableType:
    """An agent's text. Line breaks and ``<tags>`` stay. Links are written out, because a link may
    show one address and open another.
    """
    from markdown_it import MarkdownIt  # slow to load, and a first screen may do without
    from rich.markdown import Markdown

    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    body = Markdown("", hyperlinks=False)
    body.parsed = parser.parse(text.replace("\n", "  \n"))
    return body


def _when(at: str) -> str:
    """The time of a message in local time, with the date unless it is today. A time that cannot be
    read is shown as it is.
    """
    try:
        local = datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return visible(at)
    if local.date() == datetime.now().date():
        return f"{local:%H:%M}"
    return local.replace(tzinfo=None).isoformat(" ", "minutes")
