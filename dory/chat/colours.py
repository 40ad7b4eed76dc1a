"""What a notice looks like: dim, and a diff in it as people know it. Its text stays as it is."""

from rich.text import Text

_BEGIN, _END = "```diff", "```"
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def coloured(text: str) -> Text:
    """``text`` with the lines of its diffs, each between a line ```` ```diff ```` and a line ```` ``` ````, in their colours."""
    shown, inside = Text(style="dim"), False
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        inside = bare != _END and (inside or bare == _BEGIN)
        shown.append(line, style=f"not dim {_STYLES[line[0]]}" if inside and line[0] in _STYLES else "")
    return shown
